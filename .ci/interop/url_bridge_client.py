#!/usr/bin/env python3
"""Drives a server of the official Python SDK through the example bridge, with the Python SDK of this interpreter.

    url_bridge_client.py DIRECTION SERVER URL
    url_bridge_client.py DIRECTION SERVER COMMAND [ARGUMENT...]

SERVER is the version of the server's SDK. Each check runs once in each era that both SDKs support. A line that starts
with RESULT sums up an era; an error is printed in a line that starts with FAILED.
"""

import sys
import warnings

from python_client import SDK, STATELESS, Failed, Problems, Sdk1, Sdk2, attempt, expect, text_of

LIMIT = 60  # seconds for the checks of one era


async def check(command, version):
    problems, steps = Problems(), []
    sdk = Sdk1 if SDK.startswith("1.") else Sdk2

    async def on_progress(progress, total, message):
        steps.append((progress, total))

    async with sdk(command, version, problems) as peer:
        expect("the revision", peer.agreed, version)
        expect("the tools", sorted(await peer.tools()), ["add", "count"])
        _, structured, is_error = await peer.call("add", {"a": 2, "b": 40}, timeout=20)
        expect("a tool", (structured, is_error), ({"result": 42}, False))
        content, _, _ = await peer.call("count", {"to": 3}, timeout=20, progress=on_progress)
        expect("the end of progress", text_of(content), "done")
        if (3, 3) not in steps:
            raise Failed(f"only this progress arrived: {steps}")
        content, _, is_error = await peer.call("add", {"a": "x"}, timeout=20)
        expect("an error", is_error, True)
        if version != STATELESS:
            await peer.ping()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    direction, server, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    eras = {"legacy": "2025-11-25"}
    if not (SDK.startswith("1.") or server.startswith("1.")):
        eras["modern"] = STATELESS
    passed = [
        attempt(
            f"bridge, python mcp {SDK} with a server of {server}, {era} | {direction}",
            lambda version=version: check(command, version),
            LIMIT,
        )
        for era, version in eras.items()
    ]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
