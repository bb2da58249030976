#!/usr/bin/env python3
"""Drives boards in QEMU with the official Python SDK of this interpreter, 1.x or 2.x.

    board_client.py QEMU IMAGE...

QEMU is the script that starts an image on its board. The first image runs all checks, the other images a short session.
A line that starts with RESULT sums up a run; each error is printed in a line that starts with FAILED.
"""

import asyncio
import base64
import contextlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import warnings
import zlib

import board_wire
import python_client
from python_client import HANDSHAKE, SDK, STATELESS, Failed, expect, ok
from python_features import World, plain, types

PIPE = [sys.executable, str(pathlib.Path(__file__).with_name("board_pipe.py"))]
TOOLS = {"led_set", "temperature", "settings_write", "self_test", "ask"}
SETTINGS = "board://settings"
ROUNDS = 20
LIMIT = 120  # seconds for a group


class On(World):
    """A client connected to a board."""

    async def __aenter__(self):
        await self.peer.__aenter__()
        return self

    async def __aexit__(self, *error):
        return await self.peer.__aexit__(*error)


@contextlib.contextmanager
def powered(qemu, image, folder, *options, line=""):
    """A running board. Its UART is a socket."""
    path = str(pathlib.Path(folder, "uart"))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    command = [qemu, image, "-serial", f"unix:{path},server=on,wait=off{line}", *options]
    board = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        time.sleep(0.5)  # the board loses input while it boots
        yield path
    finally:
        board.kill()
        board.wait()


async def dialogue(world):
    """Checks that every board passes."""
    expect("tools", set(await world.peer.tools()), TOOLS)
    expect("on", await world.text("led_set", {"on": True}), "the LED is on")
    expect("the pin", (await world.read("board://pin/led"))[0]["text"], "high")
    expect("off", await world.text("led_set", {"on": False}), "the LED is off")
    steps = []

    async def on_progress(value, total, message):
        steps.append((value, total))

    expect("self_test", await world.text("self_test", {}, progress=on_progress), "test passed")
    expect("steps", steps, [(step, 10) for step in range(1, 11)])


async def many_calls(world):
    for number in range(100):
        on = number % 2 == 0
        expect("led_set", await world.text("led_set", {"on": on}), "the LED is on" if on else "the LED is off")
    calls = [world.text("led_set", {"on": True}) for _ in range(100)]
    expect("calls at once", set(await asyncio.gather(*calls)), {"the LED is on"})


async def measures(world):
    content, structured, _ = await world.call("temperature")
    tenths = round(structured["celsius"] * 10) if structured else 215
    expect("a temperature", 215 <= tenths <= 400, True)
    expect("structured", structured is not None, world.since("2025-06-18"))
    expect("text", content[0]["type"], "text")


async def refusals(world):
    for name, arguments in (("led_set", {}), ("led_set", {"on": 1}), ("ask", {"of": "nobody"})):
        try:
            _, _, is_error = await world.call(name, arguments)
            expect(f"{name} {arguments} is an error", is_error, True)
        except world.peer.Error as error:
            expect("error code", error.error.code, -32602)


async def cancel(world):
    for _ in range(2):
        # The board refuses a second test while the first one runs, so the next call shows that the first one ended.
        task = asyncio.create_task(world.peer.call("self_test", {}))
        await asyncio.sleep(0.05)  # the test takes half a second
        await world.peer.cancel_last()
        task.cancel()
        await asyncio.wait([task])
    expect("the test after it", await world.text("self_test"), "test passed")


async def settings(world):
    text = ("name=\"board\"\n" + "ä" * 600)[:512]
    for at in (0, len(text.encode())):
        if at + len(text.encode()) <= 1024:
            expect("written", await world.text("settings_write", {"text": text, "at": at}), "written")
    [read] = await world.read(SETTINGS)
    expect("settings", read["text"].startswith(text), True)
    await world.text("settings_write", {"text": "\\" * 500})
    expect("settings", (await world.read(SETTINGS))[0]["text"], "\\" * 500)
    listed = plain(await world.api.list_resources())["resources"]
    expect("resources", [entry["uri"] for entry in listed], [SETTINGS, "board://temperature"])


async def downloads(path):
    """Results of 1 MiB, and their cancellation, from the image `dump`."""
    size = 1 << 20
    log = "".join(chr(ord("a") + line % 26) * 63 + "\n" for line in range(size // 64))
    memory = bytes((at * 31 + (at >> 8)) % 256 for at in range(size))
    for version in (versions()[0], versions()[-1]):
        async with On([*PIPE, path], version) as world:
            expect("log", await world.text("log", {}) == log, True)
            [read] = await world.read("board://memory")
            expect("memory", base64.b64decode(read["blob"]) == memory, True)
            task = asyncio.create_task(world.peer.call("log", {}))
            await asyncio.sleep(0.2)
            await world.peer.cancel_last()
            task.cancel()
            await asyncio.wait([task])
            expect("tools after a cancellation", set(await world.peer.tools()), {"log", "flash"})
        ok(f"{version}: 2 MiB, and a cancelled call")


async def uploads(path):
    """Arguments that are larger than the receive buffer of the image `dump`. Its UART takes them slowly."""
    for version in (versions()[0], versions()[-1]):
        async with On([*PIPE, path], version) as world:
            for size in (1 << 15, 100):
                image = bytes((at * 31 + (at >> 8)) % 256 for at in range(size))
                text = await world.text("flash", {"image": base64.b64encode(image).decode()})
                expect("flash", text, f"{size} bytes, CRC-32 {zlib.crc32(image)}")
        ok(f"{version}: 32 KiB to the board")


async def subscription(world):
    if world.stateless:
        async with world.api.listen(resource_subscriptions=[SETTINGS]) as heard:
            events = aiter(heard)
            for text in "ab":
                await world.text("settings_write", {"text": text})
                expect("event", (await anext(events)).uri, SETTINGS)
        return
    await world.api.subscribe_resource(world.uri(SETTINGS))
    await world.text("settings_write", {"text": "a"})
    await world.hears("notifications/resources/updated", SETTINGS)
    await world.api.unsubscribe_resource(world.uri(SETTINGS))


async def prompts(world):
    result = plain(await world.api.get_prompt("diagnose", {"symptom": "is too hot"}))
    expect("prompt", result["messages"][1]["content"]["text"], "The board is too hot. What may be wrong?")
    reference = types.PromptReference(type="ref/prompt", name="diagnose")
    completed = plain(await world.api.complete(reference, {"name": "symptom", "value": "does"}))
    expect("completion", completed["completion"]["values"], ["does not answer"])


async def log(world):
    if not world.stateless:
        await world.api.set_logging_level("info")
    world.logged.clear()
    await world.text("led_set", {"on": True})
    expect("log messages", world.logged, ["info"])


async def questions(world):
    world.elicit = {"action": "accept", "content": {"name": "Ada"}}
    if world.since("2025-06-18"):
        expect("the user", await world.text("ask", {"of": "user"}), "Hello, Ada!")
    expect("the model", await world.text("ask", {"of": "model"}), "Hello, made by a model!")
    expect("the client", await world.text("ask", {"of": "client"}), "1 roots")


EVERYTHING = (dialogue, many_calls, measures, refusals, cancel, settings, subscription, prompts, log, questions)


def versions():
    return HANDSHAKE if SDK.startswith("1.") else [*HANDSHAKE, STATELESS]


async def everything(path):
    for version in versions():
        for options in ([], ["--single"]):
            async with On([*PIPE, path, *options], version) as world:
                for group in EVERYTHING if not options else EVERYTHING[:1]:
                    try:
                        await group(world)
                    except Exception as error:
                        raise Failed(f"{version} {group.__name__} {options}: {error!r}") from error
            world.problems.none()
        ok(f"{version}: {', '.join(group.__name__ for group in EVERYTHING)}; and byte by byte")


async def killed(path):
    """A client dies in the middle of a line and of a slow call, again and again. The board is never reset."""
    eras = ["2025-11-25", STATELESS] if STATELESS in versions() else ["2025-11-25"]
    for number, version in enumerate(eras * ROUNDS):
        # The connection is cut during the self-test, somewhere within a call.
        begun = 1300 if version == STATELESS else 600
        command = [*PIPE, path, "--cut", str(begun + random.Random(number).randrange(1000))]
        slow = None
        try:
            async with asyncio.timeout(20):
                async with On(command, version) as world:
                    slow = asyncio.create_task(world.peer.call("self_test", {}, progress=ignored))
                    for _ in range(30):
                        await world.peer.call("led_set", {"on": True}, timeout=5)
        except TimeoutError:
            raise Failed(f"round {number}: the client hangs") from None
        except Exception:
            pass  # the connection is closed, and each SDK raises its own error
        else:
            raise Failed(f"round {number}: the client was not cut off")
        finally:
            if slow:
                expect(f"round {number}: the slow call was over", slow.done() and not slow.exception(), False)
                slow.cancel()
        async with asyncio.timeout(20):
            async with On([*PIPE, path], version) as world:
                expect(f"round {number}", await world.text("led_set", {"on": True}), "the LED is on")
                expect(f"round {number}", await world.text("self_test"), "test passed")
            world.problems.none()
    ok(f"{ROUNDS} clients died in each of {', '.join(eras)}, and each next one was served at once")


async def ignored(value, total, message):
    pass


async def started_by_the_client(qemu, image):
    """The SDK starts QEMU as its server. The shell sends marks first, because the board may lose a byte while it boots.
    The shell also removes the board's mark, which is no message."""
    script = '{ printf "\\n\\004\\004\\004\\004\\n\\004\\004\\004\\004\\n"; exec cat; } | "$@" | grep --line-buffered "^{"'
    for version in versions()[-1:]:
        async with On(["/bin/sh", "-c", script, "sh", qemu, image], version) as world:
            await dialogue(world)
        ok(f"{version}: the SDK starts the board")


def attempt(name, group):
    return python_client.attempt(f"python mcp {SDK} | {name}", group, LIMIT)


def main():
    warnings.simplefilter("ignore")
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    qemu, first, *others = sys.argv[1:]
    dumps = [image for image in others if pathlib.Path(image).name == "dump"]
    others = [image for image in others if image not in dumps]
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        name = pathlib.Path(first).name
        with powered(qemu, first, folder) as path:
            fine &= attempt(f"{name}, everything", lambda: everything(path))
            fine &= attempt(f"{name}, killed clients", lambda: killed(path))
            if SDK.startswith("2."):
                fine &= attempt(f"{name}, the line itself", lambda: board_wire.check(path))
        if SDK.startswith("2."):
            # The emulated processor is slower than the chip, and the line is faster than the processor.
            with powered(qemu, first, folder, "-icount", "shift=8") as path:
                fine &= attempt(f"{name}, full speed", lambda: board_wire.full_speed(path))
            for image in [first, *others]:
                name = pathlib.Path(image).name
                if name != "microbit":  # QEMU reports a break as a parity error there
                    with powered(qemu, image, folder, line=",telnet=on") as path:
                        fine &= attempt(f"{name}, breaks", lambda: board_wire.breaks(path))
        for image in dumps:
            with powered(qemu, image, folder) as path:
                fine &= attempt("dump, 1 MiB through 512 bytes", lambda: downloads(path))
                fine &= attempt("dump, 32 KiB to the board", lambda: uploads(path))
        for image in [first, *others]:
            name = pathlib.Path(image).name
            fine &= attempt(f"{name}, started", lambda: started_by_the_client(qemu, image))
    sys.exit(not fine)


if __name__ == "__main__":
    main()
