#!/usr/bin/env python3
"""Drives an MCP server with the official Python SDK of this interpreter, 1.x or 2.x.

    python_client.py SERVER [ARGUMENT...]

Runs the same checks once for each mode that this SDK supports, and prints each check. Stops at the first failure with
exit code 1 and a line that starts with FAILED. A line that starts with RESULT sums up a run.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import logging
import pathlib
import sys
import tempfile
import time
import warnings
from datetime import timedelta

SDK = importlib.metadata.version("mcp")
STATELESS = "2026-07-28"
HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
RUN_LIMIT = 90  # seconds for one whole run
TEXTS = {
    "plain": "hello",
    "empty": "",
    "emoji": "päivää 👩‍🚀 日本語",
    "quotes": 'say "hi" \\ back/slash {"a": [1]}',
    "newlines": "one\ntwo\r\nthree\ttab",
    "odd": "null \u0000 bell \u0007 separators \u2028\u2029 edge \ue000\ufffd\U0010ffff",
    "long": "0123456789" * 1000,
}
# The shell between the SDK and the server only records the server's exit code. An SDK kills the process group of a
# server that does not exit by itself, and then there is no record.
WITNESS = 'exec 3<&0; "$@" <&3 3<&- & exec 3<&-; trap "kill -9 $!; exit 1" TERM; wait $!; echo "$?" >"$0.$$"'


def is_url(command):
    """Whether the server is at a URL, instead of a program."""
    return command[0].startswith("http://")


class Failed(Exception):
    pass


class Problems(logging.Handler):
    """Warnings of the SDK: lines that it could not read, answers without a pending request."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.seen = []

    def emit(self, record):
        text = record.getMessage()
        if record.levelno >= logging.WARNING or "unknown/late" in text:
            self.seen.append(text)

    async def on_message(self, message):
        if isinstance(message, Exception):
            self.seen.append(repr(message))

    def none(self):
        seen, self.seen = self.seen, []
        if seen:
            raise Failed(f"the SDK complained: {seen[0]}")


class Sdk1:
    """mcp 1.x: the handshake only. A timeout sends no cancellation; the caller must send it."""

    sends_cancel = False

    def __init__(self, command, version, problems, **callbacks):
        self.command, self.version, self.problems, self.callbacks = command, version, problems, callbacks

    async def __aenter__(self):
        import mcp

        # The SDK has no setting for the revision that it requests.
        mcp.types.LATEST_PROTOCOL_VERSION = self.version
        self.mcp, self.stack = mcp, contextlib.AsyncExitStack()
        if is_url(self.command):
            from mcp.client.streamable_http import streamablehttp_client

            read, write, _ = await self.stack.enter_async_context(streamablehttp_client(self.command[0]))
        else:
            parameters = mcp.StdioServerParameters(command=self.command[0], args=self.command[1:])
            read, write = await self.stack.enter_async_context(mcp.stdio_client(parameters))
        session = mcp.ClientSession(read, write, message_handler=self.problems.on_message, **self.callbacks)
        self.session = await self.stack.enter_async_context(session)
        result = await self.session.initialize()
        self.agreed, self.server_info = result.protocolVersion, result.serverInfo
        return self

    async def __aexit__(self, *error):
        return await self.stack.__aexit__(*error)

    async def tools(self):
        return {tool.name: tool.inputSchema for tool in (await self.session.list_tools()).tools}

    async def call(self, name, arguments, timeout=None, progress=None):
        limit = None if timeout is None else timedelta(seconds=timeout)
        result = await self.session.call_tool(name, arguments, limit, progress_callback=progress)
        return result.content, result.structuredContent, result.isError

    async def ping(self):
        await self.session.send_ping()

    async def cancel_last(self):
        types, last = self.mcp.types, self.session._request_id - 1
        params = types.CancelledNotificationParams(requestId=last, reason="changed my mind")
        notification = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.session.send_notification(types.ClientNotification(notification))

    @property
    def Error(self):
        return self.mcp.McpError


class Sdk2:
    """mcp 2.x: both eras. A version pinned to 2026-07-28 skips the probe, `auto` probes first."""

    sends_cancel = True

    def __init__(self, command, mode, problems, **callbacks):
        self.command, self.mode, self.problems, self.callbacks = command, mode, problems, callbacks

    async def __aenter__(self):
        import mcp
        import mcp.client.session

        mode = self.mode
        if mode in HANDSHAKE:
            mcp.client.session.LATEST_HANDSHAKE_VERSION, mode = mode, "legacy"
        server = self.command[0]
        if not is_url(self.command):
            server = mcp.StdioServerParameters(command=server, args=self.command[1:])
        self.mcp = mcp
        handler = self.problems.on_message
        self.client = mcp.Client(server, mode=mode, message_handler=handler, cache=None, **self.callbacks)
        await self.client.__aenter__()
        self.agreed, self.server_info = self.client.protocol_version, self.client.server_info
        return self

    async def __aexit__(self, *error):
        return await self.client.__aexit__(*error)

    async def tools(self):
        return {tool.name: tool.input_schema for tool in (await self.client.list_tools()).tools}

    async def call(self, name, arguments, timeout=None, progress=None):
        result = await self.client.call_tool(name, arguments, timeout, progress)
        return result.content, result.structured_content, result.is_error

    async def ping(self):
        await self.client.send_ping()

    async def cancel_last(self):
        pass  # the SDK sends the cancellation when the call ends

    @property
    def Error(self):
        return self.mcp.MCPError


def ok(what):
    print(f"  ok  {what}")


def expect(what, got, wanted):
    if got != wanted:
        raise Failed(f"{what}: expected {str(wanted)[:200]!r}, got {str(got)[:200]!r}")


def text_of(content):
    if len(content) != 1 or content[0].type != "text":
        raise Failed(f"expected one text block, got {content}")
    return content[0].text


def attempt(label, group, limit):
    """Runs a group of checks, at most for `limit` seconds, and prints its result. Returns whether all passed."""
    print(label)
    try:
        coroutine = group()
        if coroutine is not None:

            async def limited():
                async with asyncio.timeout(limit):
                    await coroutine

            asyncio.run(limited())
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"FAILED {label}: {error if isinstance(error, Failed) else repr(error)}")
        print(f"RESULT {label} | FAILED", flush=True)
        return False
    print(f"RESULT {label} | ok", flush=True)
    return True


async def refused(peer, name, arguments):
    """The error code of a call that the server must refuse, or None if the result has isError."""
    try:
        content, _, is_error = await peer.call(name, arguments, timeout=10)
    except peer.Error as error:
        return error.error.code
    if not is_error:
        raise Failed(f"{name} {arguments} must not succeed, but answered {content}")
    return None


async def identity(peer, version):
    expect("protocol version", peer.agreed, version)
    # A 2.x client pinned to a version never requests the server's name.
    if peer.server_info is not None and not (peer.server_info.name and peer.server_info.version):
        raise Failed(f"server info without name or version: {peer.server_info}")
    ok(f"speaks {version}, is {peer.server_info.name if peer.server_info else 'not asked'}")


async def listing(peer):
    tools = await peer.tools()
    for name in ("echo", "add", "slow", "host_info"):
        if name not in tools:
            raise Failed(f"tool {name} is not listed, only {sorted(tools)}")
        expect(f"type of {name}'s inputSchema", tools[name].get("type"), "object")
    ok(f"lists {', '.join(sorted(tools))}, each with an inputSchema")


async def calls(peer, version):
    for name, message in TEXTS.items():
        content, _, is_error = await peer.call("echo", {"message": message}, timeout=10)
        expect(f"echo of the {name} text", text_of(content), message)
        expect("isError", bool(is_error), False)
    ok(f"echo gives back {', '.join(TEXTS)} text")

    for a, b in ((1, 2), (-5, 5), (2**31, 2**31)):
        content, structured, _ = await peer.call("add", {"a": a, "b": b}, timeout=10)
        expect(f"{a} + {b}", json.loads(text_of(content)), {"sum": a + b})
        expect("structuredContent", structured, {"sum": a + b} if version >= "2025-06-18" else None)
    ok("add adds" + (", also as structuredContent" if version >= "2025-06-18" else ", and sends no structuredContent"))

    content, structured, _ = await peer.call("host_info", {}, timeout=10)
    if version >= "2025-06-18" and not structured:
        raise Failed(f"host_info without structuredContent: {content}")
    ok("host_info answers")


async def refusals(peer):
    bad = [("add", {"a": "x", "b": 1}), ("add", {"a": 1}), ("add", {}), ("echo", {}), ("echo", {"message": 5})]
    for name, arguments in bad:
        code = await refused(peer, name, arguments)
        if code not in (None, -32602):
            raise Failed(f"{name} {arguments}: error code {code} is neither -32602 nor isError")
    ok("bad arguments are refused")
    expect("error code of an unknown tool", await refused(peer, "no_such_tool", {}), -32602)
    ok("an unknown tool is -32602")


async def progress(peer):
    steps = []

    async def on_progress(value, total, message):
        steps.append(value)

    _, _, is_error = await peer.call("slow", {"seconds": 2}, timeout=20, progress=on_progress)
    expect("isError of slow", bool(is_error), False)
    if not steps or any(later <= earlier for earlier, later in zip(steps, steps[1:])):
        raise Failed(f"progress must come and increase, got {steps}")
    ok(f"slow reports progress that increases ({len(steps)} times)")


async def side_by_side(peer):
    slow = asyncio.create_task(peer.call("slow", {"seconds": 2}, timeout=20))
    await asyncio.sleep(0.2)
    content, _, _ = await peer.call("echo", {"message": "meanwhile"}, timeout=10)
    expect("echo beside slow", text_of(content), "meanwhile")
    if slow.done():
        raise Failed("slow was over before echo was answered: calls do not run beside each other")
    await slow
    ok("echo is answered while slow runs")

    messages = [f"call {number} 👋" for number in range(20)]
    answers = await asyncio.gather(*(peer.call("echo", {"message": message}, timeout=20) for message in messages))
    expect("20 echo calls at once", [text_of(content) for content, _, _ in answers], messages)
    ok("20 echo calls at once, each with its own answer")


async def cancels(peer, problems):
    problems.none()
    started = time.monotonic()
    try:
        await peer.call("slow", {"seconds": 2}, timeout=0.3)
        raise Failed("slow was over in 0.3 seconds")
    except peer.Error:
        pass
    content, _, _ = await peer.call("echo", {"message": "after a timeout"}, timeout=10)
    expect("echo after a timeout", text_of(content), "after a timeout")
    if not peer.sends_cancel:
        # The server receives no cancellation, so its answer arrives and the SDK reports an unknown request.
        await asyncio.sleep(max(0, started + 3 - time.monotonic()))
        if not any("unknown request ID" in problem for problem in problems.seen):
            raise Failed("the answer to the call that timed out never came")
        problems.seen.clear()
    ok("echo works after a call timed out")

    slow = asyncio.create_task(peer.call("slow", {"seconds": 2}))
    await asyncio.sleep(0.3)
    await peer.cancel_last()
    slow.cancel()
    await asyncio.wait([slow])
    content, _, _ = await peer.call("echo", {"message": "after a cancel"}, timeout=10)
    expect("echo after a cancel", text_of(content), "after a cancel")
    await asyncio.sleep(2.7)
    problems.none()
    ok("a cancelled call is never answered, echo works after it")


async def run(command, mode):
    version = mode if mode in HANDSHAKE else STATELESS
    problems = Problems()
    logger = logging.getLogger()
    logger.handlers, current = [problems], "connect"
    logging.getLogger("mcp").setLevel(logging.DEBUG)
    with tempfile.TemporaryDirectory() as folder:
        witness = pathlib.Path(folder, "ended")
        command = ["/bin/sh", "-c", WITNESS, str(witness), *command]
        try:
            async with asyncio.timeout(RUN_LIMIT):
                async with (Sdk1 if SDK.startswith("1.") else Sdk2)(command, mode, problems) as peer:
                    checks = {
                        "identity": lambda: identity(peer, version),
                        "listing": lambda: listing(peer),
                        "calls": lambda: calls(peer, version),
                        "refusals": lambda: refusals(peer),
                        "progress": lambda: progress(peer),
                        "side by side": lambda: side_by_side(peer),
                        "cancels": lambda: cancels(peer, problems),
                    }
                    if version != STATELESS:
                        checks["ping"] = peer.ping
                    for current, check in checks.items():
                        await check()
                    if version != STATELESS:
                        ok("ping is answered")
                    current, closing = "close", time.monotonic()
                took = time.monotonic() - closing
            notes = [path.read_text().strip() for path in witness.parent.glob("ended.*")]
            expect("exit code of the server after its input closed (none: it had to be killed)", notes, ["0"])
            ok(f"the server ended by itself in {took:.1f} s, exit code 0")
            problems.none()
        except TimeoutError:
            raise Failed(f"{current}: nothing happened for too long ({RUN_LIMIT} s a run)") from None
        except Exception as error:
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise Failed(f"{current}: {error if isinstance(error, Failed) else repr(error)}") from None


def main():
    warnings.simplefilter("ignore")
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    modes = HANDSHAKE if SDK.startswith("1.") else [*HANDSHAKE, "auto", STATELESS]
    for mode in modes:
        label = f"python mcp {SDK} | {mode}"
        print(f"{label}")
        try:
            asyncio.run(run(command, mode))
        except Failed as failed:
            print(f"FAILED {label}: {failed}")
            print(f"RESULT {label} | FAILED")
            sys.exit(1)
        print(f"RESULT {label} | ok", flush=True)


if __name__ == "__main__":
    main()
