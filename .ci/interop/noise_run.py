#!/usr/bin/env python3
"""Runs one official client on a noisy line, with a board that is reset and clients that are killed.

    noise_run.py BRIDGE IMAGE KILLS RESETS CALLS NAME COMMAND...

The board runs in QEMU. 1 % of the bytes are damaged in both directions during the whole run. First, clients are killed
in the middle of a call and of a line. Then COMMAND runs. The word PROGRAM in it becomes the path of a program that
connects to the board. The client calls `led_set` and `self_test` concurrently until its stdin ends, and prints a line
for each call: `ok NAME`, or `error NAME CODE`. Meanwhile the board is reset at random moments. The client runs until
CALLS calls have succeeded.

If NAME begins with `inspector`, each run of COMMAND is one session with one call. The word BOOL becomes `true` or
`false`. The board is reset during every second session.

Each call must succeed, or fail because of a reset. The client must not exit early. A line that starts with RESULT has
the result of the run.
"""

import pathlib
import queue
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from bridge_client import NOISE, board, killed
from python_client import Failed, expect, ok

PATIENCE = 90  # seconds for a call, or for the end of a client
INTERNAL_ERROR = -32603  # the bridge's error for a request that a reset has interrupted


class Client:
    """A client that runs until its stdin ends."""

    def __init__(self, command):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.lines, self.succeeded, self.failed = queue.Queue(), 0, 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.split())
        self.lines.put(None)

    def next_call(self):
        """Waits for the end of a call. Returns its name if it has succeeded, or None when the client has ended."""
        try:
            words = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failed("no call has ended in time") from None
        match words:
            case ["ok", name]:
                self.succeeded += 1
                return name
            case ["error", name, code]:
                expect(f"error code of {name}", int(code), INTERNAL_ERROR)
                self.failed += 1
                return ""
            case None:
                return None
            case _:
                raise Failed(f"unexpected line of the client: {' '.join(words)}")

    def until(self, fits):
        while not fits(call := self.next_call()):
            if call is None:
                raise Failed("the client has ended")

    def end(self):
        """Ends the calls. The client exits when each has ended."""
        self.process.stdin.close()
        while self.next_call() is not None:
            pass
        expect("exit code of the client", self.process.wait(PATIENCE), 0)


def session(command, monitor, moments, resets, calls):
    client = Client(command)
    try:
        client.until(lambda call: call == "self_test")
        for _ in range(resets):
            time.sleep(moments.uniform(0, 0.5))
            monitor.execute("system_reset")
            # Both loops continue after the reset.
            for name in ("led_set", "self_test"):
                client.until(lambda call: call == name)
        client.until(lambda _: client.succeeded >= calls)
        client.end()
    finally:
        client.process.kill()
    if client.failed > 2 * resets:
        raise Failed(f"{client.failed} calls failed in {resets} resets")
    return client.succeeded, client.failed


def one_by_one(command, started, monitor, moments, sessions):
    """Runs sessions of one call. Every second session has a reset, after the client has started the bridge."""
    failed = 0
    for number in range(sessions):
        started.unlink(missing_ok=True)
        on = number % 4 < 2
        words = [word.replace("BOOL", str(on).lower()) for word in command]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            if number % 2:
                until = time.monotonic() + PATIENCE
                while not started.exists() and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(moments.uniform(0, 0.5))
                monitor.execute("system_reset")
            said = process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failed("the client does not end") from None
        if process.returncode == 0 and f"the LED is {'on' if on else 'off'}" in said:
            continue
        # A reset may truncate a response.
        if not number % 2 or not re.search("has restarted|was damaged", said):
            raise Failed(f"the client has failed: {said}")
        failed += 1
    return sessions - failed, failed


def main():
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    bridge, image, kills, resets, calls, name = sys.argv[1:7]
    kills, resets, calls = int(kills), int(resets), int(calls)
    label, command = f"{name} on a noisy line", sys.argv[7:]
    try:
        with tempfile.TemporaryDirectory() as folder, board(image, folder) as (line, monitor):
            line.noise = NOISE
            line.random.seed(name)
            # A program without options, because some clients pass no options on.
            program, started = pathlib.Path(folder, "board"), pathlib.Path(folder, "started")
            through = [bridge, line.port, "--framed", "--settle", "20000"]
            program.write_text(f"#!/bin/sh\n: >{started}\nexec {shlex.join(through)}\n")
            program.chmod(0o755)
            for round in range(kills):
                killed([program], round)
            command = [word.replace("PROGRAM", str(program)) for word in command]
            moments = random.Random(name)
            if name.startswith("inspector"):
                succeeded, failed = one_by_one(command, started, monitor, moments, resets * 2)
            else:
                succeeded, failed = session(command, monitor, moments, resets, calls)
    except Exception as error:
        print(f"FAILED {label}: {error if isinstance(error, Failed) else repr(error)}\nRESULT {label} | FAILED")
        sys.exit(1)
    print(label)
    ok(f"{kills} killed clients, {resets} resets: {succeeded} calls succeeded, {failed} failed because of a reset")
    print(f"RESULT {label} | ok", flush=True)


if __name__ == "__main__":
    main()
