#!/usr/bin/env python3
"""Drives the servers of adapters/c/examples with the official Python SDK of this interpreter, 1.x or 2.x.

    c_client.py blinky|device COMMAND [ARGUMENT...]

COMMAND starts the server, on this computer or on a board in QEMU. Each check runs in every revision that the SDK
supports. A line that starts with RESULT sums up the run; an error is printed in a line that starts with FAILED.
"""

import asyncio
import sys
import warnings

import python_client
from board_client import On, versions
from python_client import SDK, expect, ok

LIMIT = 120  # seconds for a run


async def refused(world, name, arguments):
    """The server refuses the arguments of a call."""
    try:
        _, _, is_error = await world.call(name, arguments)
        expect(f"{name} {arguments} is an error", is_error, True)
    except world.peer.Error as error:
        expect("error code", error.error.code, -32602)


async def blinky(world):
    expect("tools", set(await world.peer.tools()), {"led_set", "self_test"})
    for on in (True, False) * 20:
        expect("led_set", await world.text("led_set", {"on": on}), "ok")
    for arguments in ({}, {"on": 1}, {"on": None}):
        await refused(world, "led_set", arguments)
    steps = []

    async def on_progress(value, total, message):
        steps.append((value, total))

    expect("self_test", await world.text("self_test", {}, progress=on_progress), "test passed")
    expect("steps", steps, [(step, 10) for step in range(1, 10)])
    calls = [world.text("led_set", {"on": True}) for _ in range(20)]
    expect("calls at once", set(await asyncio.gather(*calls)), {"ok"})


async def device(world):
    expect("tools", set(await world.peer.tools()), {"set_name", "temperature", "mean"})
    for name in ("a", 'p\u00e4\u00efv\n\\"', "\U0001f600" * 20, ""):
        expect("set_name", await world.text("set_name", {"name": name}), "ok")
        expect("name", (await world.read("board://name"))[0]["text"], name)
    for arguments in ({}, {"name": 5}, {"name": "x" * 21}, {"name": "x" * 81}, {"name": "x\0y"}):
        await world.text("set_name", {"name": "kept"})
        await refused(world, "set_name", arguments)
        expect("name after a refusal", (await world.read("board://name"))[0]["text"], "kept")
    _, structured, _ = await world.call("temperature", {"offset": -1.55})
    if world.since("2025-06-18"):
        expect("structured", structured, {"celsius": 20.0})
    expect("text", await world.text("temperature"), '{"celsius":21.5}')
    await refused(world, "temperature", {"offset": "cold"})
    expect("mean", await world.text("mean", {"points": [{"x": 3}, {"x": -8}]}), "-2.5")
    await refused(world, "mean", {"points": [{"x": 3}]})
    for x in (1_000_001, -(2**63), 2**63 - 1):
        await refused(world, "mean", {"points": [{"x": 0}, {"x": x}]})
    [image] = await world.read("board://image")
    expect("image", image["blob"], "iVBORwD/")
    try:
        await world.read("board://nothing")
        raise python_client.Failed("an unknown resource was read")
    except world.peer.Error as error:
        expect("error code", error.error.code, -32602 if world.stateless else -32002)


async def every_version(check, command):
    for version in versions():
        async with On(command, version) as world:
            await check(world)
        world.problems.none()
        ok(f"{version}: {check.__name__}")


def main():
    warnings.simplefilter("ignore")
    checks = {"blinky": blinky, "device": device}
    if len(sys.argv) < 3 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    name, command = sys.argv[1], sys.argv[2:]
    where = "QEMU" if "qemu" in command[0] else "this computer"
    run = lambda: every_version(checks[name], command)
    sys.exit(not python_client.attempt(f"python mcp {SDK} | {name} in C, {where}", run, LIMIT))


if __name__ == "__main__":
    main()
