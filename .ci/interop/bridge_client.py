#!/usr/bin/env python3
"""Drives a board in QEMU through `mcp-serial-bridge`, with the official Python SDK of this interpreter.

    bridge_client.py BRIDGE IMAGE

The board starts once; its UART is a pseudo-terminal. Several bridges are killed in the middle of a call. Then the SDK
drives the board in each mode that the SDK supports, each time with a new bridge. In each session the board is reset
several times, and the session continues. Damage on the line fails single calls. The image `framed` repeats damaged
frames, so its line is damaged all the time, and no call fails. Prints each check, and stops at the first failure with
exit code 1 and a line that starts with FAILED.
"""

import asyncio
import contextlib
import json
import logging
import os
import pathlib
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
import warnings

from python_client import (
    HANDSHAKE, SDK, STATELESS, WITNESS, Failed, Problems, Sdk1, Sdk2, expect, identity, ok, refused, text_of,
)

QEMU = pathlib.Path(__file__).parents[2] / "examples" / "firmware" / "boards" / "qemu"  # chooses the board of an image
RUN_LIMIT = 180  # seconds for one whole run
KILLS = 20
RESETS = 6
NOISE = 10  # of 1000 bytes are damaged
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Monitor:
    """The monitor of QEMU, which resets the board."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r")
        self.execute("qmp_capabilities")

    def execute(self, command):
        self.socket.sendall(json.dumps({"execute": command}).encode())
        while "return" not in json.loads(self.lines.readline()):
            pass


class NoisyLine(threading.Thread):
    """A pseudo-terminal in front of the board's, which damages bytes in both directions."""

    def __init__(self, board):
        super().__init__(daemon=True)
        self.board, self.noise, self.random = board, 0, random.Random(17)
        self.bridge, self.kept = os.openpty()
        tty.setraw(self.kept)
        tty.setraw(board)
        self.port = os.ttyname(self.kept)
        self.start()

    def damage(self):
        """Sends the bridge half a message."""
        os.write(self.bridge, b'\n{"jsonrpc":"2.0","id":\n')

    def run(self):
        # The board's end closes when QEMU ends.
        with contextlib.suppress(OSError):
            while True:
                self.move()

    def move(self):
        for source in select.select([self.board, self.bridge], [], [])[0]:
            data = bytearray(os.read(source, 256))
            for at in range(len(data)):
                if self.random.randrange(1000) < self.noise:
                    data[at] ^= 1 << self.random.randrange(8)
            rest, target = bytes(data), self.bridge if source == self.board else self.board
            while rest:
                rest = rest[os.write(target, rest) :]


@contextlib.contextmanager
def board(image, folder):
    """Starts the board, and yields its line and its monitor."""
    monitor = str(pathlib.Path(folder, "monitor"))
    process = subprocess.Popen(
        [QEMU, image, "-serial", "pty", "-qmp", f"unix:{monitor},server=on,wait=off"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    try:
        said, path = "", None
        while path is None:
            if not select.select([process.stdout], [], [], 10)[0]:
                raise Failed(f"QEMU does not say where its port is: {said}")
            line = process.stdout.readline()
            if not line:
                raise Failed(f"QEMU has ended: {said}")
            said += line
            path = re.search(r"(/dev/\S+)", line)
        port = path.group(1)
        # QEMU checks once a second whether the port is open, so this script keeps it open.
        held = os.open(port, os.O_RDWR | os.O_NOCTTY)
        try:
            line = NoisyLine(held)
            time.sleep(1.5)
            yield line, Monitor(monitor)
        finally:
            os.close(held)
    finally:
        process.kill()
        process.wait()


class Bridge:
    """A bridge that is driven line by line."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.heard = b""

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def says(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def hears(self):
        while b"\n" not in self.heard:
            if not select.select([self.process.stdout], [], [], 30)[0]:
                raise Failed("the board does not respond")
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                raise Failed("the bridge has ended")
            self.heard += piece
        line, self.heard = self.heard.split(b"\n", 1)
        return json.loads(line)

    def answer_to(self, number):
        """Returns the result. Notifications may precede it, except before the first answer."""
        message = self.hears()
        while number > 0 and "method" in message:
            message = self.hears()
        expect(f"id of the answer in {message}", message.get("id"), number)
        if "result" not in message:
            raise Failed(f"an error instead of a result: {message}")
        return message["result"]

    def kill(self):
        self.process.kill()
        self.process.communicate()


def killed(command, round):
    """A client that is killed during a call and within a line. It uses the same ids as the client before."""
    stateless = round % 2
    meta = META if stateless else {}
    bridge = Bridge(command)
    try:
        if stateless:
            bridge.says(id=0, method="server/discover", params={"_meta": meta})
        else:
            client = {"name": "c", "version": "1"}
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
            bridge.says(id=0, method="initialize", params=params)
        bridge.answer_to(0)
        if not stateless:
            bridge.says(method="notifications/initialized")
        bridge.says(id=1, method="tools/call", params={"name": "led_set", "arguments": {"on": True}, "_meta": meta})
        expect("isError of led_set", bridge.answer_to(1).get("isError", False), False)
        params = {"name": "self_test", "arguments": {}, "_meta": {**meta, "progressToken": 2}}
        bridge.says(id=2, method="tools/call", params=params)
        if round % 4 < 2:
            while bridge.hears().get("method") != "notifications/progress":
                pass
        bridge.write('{"jsonrpc":"2.0","id":3,"method":"tools/ca')
        time.sleep(round * 0.005)
    finally:
        bridge.kill()


async def listing(peer):
    tools = await peer.tools()
    expect("tools", {"led_set", "self_test"} - tools.keys(), set())
    ok(f"lists {', '.join(sorted(tools))}")


async def calls(peer):
    for number in range(50):
        _, _, is_error = await peer.call("led_set", {"on": number % 2 == 0}, timeout=60)
        expect("isError of led_set", bool(is_error), False)
    ok("50 calls in a row")
    for name, arguments in (("led_set", {"on": "yes"}), ("led_set", {})):
        code = await refused(peer, name, arguments)
        if code not in (None, -32602):
            raise Failed(f"{name} {arguments}: error code {code} is neither -32602 nor isError")
    expect("error code of an unknown tool", await refused(peer, "no_such_tool", {}), -32602)
    ok("bad arguments and unknown tools are refused")


async def calls_despite_noise(peer, line, is_framed, problems):
    """Without frames, a call whose request or response was damaged may fail. The session continues."""
    if not is_framed:
        # The bridge looks for lost requests only after it has seen damage, and the first damage could hit a newline.
        line.damage()
    count, failed, slowest = 200 if is_framed else 40, 0, 0
    before, line.noise = line.noise, NOISE
    for number in range(count):
        begun = time.monotonic()
        try:
            _, _, is_error = await peer.call("led_set", {"on": number % 2 == 0}, timeout=60)
            failed += bool(is_error)
        except Exception:
            # An error of the board or the bridge, or a result that the SDK refuses.
            failed += 1
        slowest = max(slowest, time.monotonic() - begun)
    line.noise = before
    if slowest > 50:
        raise Failed("a call got neither a result nor an error")
    if is_framed:
        expect("failed calls", failed, 0)
    else:
        # A damaged response may still be valid JSON, and this call may follow the rest of a damaged line.
        with contextlib.suppress(peer.Error):
            await peer.call("led_set", {"on": True}, timeout=60)
        problems.seen.clear()
    ok(f"{count} calls with {NOISE / 10:g} % of the bytes damaged, {failed} failed, the slowest after {slowest:.1f} s")
    await peer.call("led_set", {"on": True}, timeout=60)


async def progress(peer):
    steps = []

    async def on_progress(value, total, message):
        steps.append(value)

    content, _, _ = await peer.call("self_test", {}, timeout=60, progress=on_progress)
    expect("self_test", text_of(content), "test passed")
    if len(steps) < 5 or steps != sorted(set(steps)):
        raise Failed(f"progress must come and increase, got {steps}")
    ok(f"self_test reports progress that increases ({len(steps)} times)")


async def resets(peer, monitor, sends_marks, version):
    """The board is reset in the middle of calls. A board without marks notices only that its session is gone."""
    failed = interrupted = 0
    for number in range(RESETS):
        slow, running = None, asyncio.Event()
        if sends_marks or version != STATELESS:

            async def on_progress(value, total, message):
                running.set()

            slow = asyncio.create_task(peer.call("self_test", {}, timeout=60, progress=on_progress))
            await asyncio.wait_for(running.wait(), 10)
        monitor.execute("system_reset")
        if number % 2:
            await asyncio.sleep(0.3)
        for _ in range(2):
            # A call that is in flight during the reset gets an error.
            try:
                _, _, is_error = await peer.call("led_set", {"on": True}, timeout=60)
                expect("isError of led_set", bool(is_error), False)
                break
            except peer.Error as error:
                expect("error of a call during a reset", error.error.code, -32603)
                failed += 1
        else:
            raise Failed("the session does not continue after a reset")
        if slow:
            try:
                await slow
            except peer.Error as error:
                expect("error of the interrupted call", error.error.code, -32603)
                interrupted += 1
    # The self-test of blinky takes milliseconds, and may be over before the reset.
    if sends_marks and interrupted < RESETS - 1:
        raise Failed(f"only {interrupted} of {RESETS} calls were interrupted")
    await listing(peer)
    ok(f"{RESETS} resets of the board, and the session continues ({interrupted} long and {failed} short calls failed)")


async def run(command, mode, line, monitor, image):
    version = mode if mode in HANDSHAKE else STATELESS
    sends_marks = image != "blinky"
    problems = Problems()
    logging.getLogger().handlers = [problems]
    with tempfile.TemporaryDirectory() as folder:
        witness = pathlib.Path(folder, "ended")
        command = ["/bin/sh", "-c", WITNESS, str(witness), *command]
        async with asyncio.timeout(RUN_LIMIT):
            async with (Sdk1 if SDK.startswith("1.") else Sdk2)(command, mode, problems) as peer:
                await identity(peer, version)
                await listing(peer)
                await calls(peer)
                if image != "blinky":
                    await calls_despite_noise(peer, line, image == "framed", problems)
                await progress(peer)
                await resets(peer, monitor, sends_marks, version)
                if version != STATELESS:
                    await peer.ping()
                    ok("ping is answered")
        notes = [path.read_text().strip() for path in witness.parent.glob("ended.*")]
        expect("exit code of the bridge after its input closed (none: it had to be killed)", notes, ["0"])
        problems.none()


def main():
    warnings.simplefilter("ignore")
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    bridge, image = sys.argv[1:]
    label = f"python mcp {SDK}, {pathlib.Path(image).name} in QEMU"
    # Ends the process if it hangs at a point that no timeout covers.
    watchdog = threading.Timer(900, lambda: (print(f"FAILED {label}: it hangs", flush=True), os._exit(1)))
    watchdog.daemon = True
    watchdog.start()
    try:
        with tempfile.TemporaryDirectory() as folder, board(image, folder) as (line, monitor):
            command, name = [bridge, line.port], pathlib.Path(image).name
            if name == "framed":
                command += ["--framed", "--settle", "20000"]
                line.noise = NOISE
            print(label)
            for round in range(KILLS):
                killed(command, round)
            ok(f"{KILLS} clients that were killed, each found the board as new")
            for mode in HANDSHAKE if SDK.startswith("1.") else [*HANDSHAKE, "auto", STATELESS]:
                label = f"{label.split(' | ')[0]} | {mode}"
                print(label)
                asyncio.run(run(command, mode, line, monitor, name))
    except Exception as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(f"FAILED {label}: {error if isinstance(error, Failed) else repr(error)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
