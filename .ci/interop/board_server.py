#!/usr/bin/env python3
"""Runs a board that is a client in QEMU, with a server of the official Python SDK of this interpreter.

    board_server.py IMAGE

The board calls a tool and shows the result. It is reset several times, and each time it gets a new server. Prints each
check, and stops at the first failure with exit code 1 and a line that starts with FAILED.
"""

import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from bridge_client import Monitor
from python_client import HANDSHAKE, SDK, STATELESS, Failed, expect, ok

SERVE = pathlib.Path(__file__).parents[2] / "examples" / "firmware" / "boards" / "serve"
SERVER = pathlib.Path(__file__).with_name("python_server.py")
PATIENCE = 60  # seconds for a session
RESETS = 4
REVISION = HANDSHAKE[-1] if SDK.startswith("1.") else STATELESS


def session(shown):
    """Reads what the board and the server show, up to the result. Returns the revision."""
    revision = None
    for line in shown:
        if line.startswith("connected, "):
            revision = line.split()[-1]
        if line.startswith("add: ") and revision:
            expect("what the board shows", line, "add: 42\n")
            return revision
    raise Failed("the board shows no result")


def check(image, folder):
    control = pathlib.Path(folder, "control")
    command = [SERVE, image, "-qmp", f"unix:{control},server=on,wait=off", "--", sys.executable, SERVER]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
    # Ends the output of a board that hangs.
    watchdog = threading.Timer(PATIENCE * (RESETS + 1), program.terminate)
    watchdog.start()
    try:
        expect("revision", session(program.stderr), REVISION)
        ok(f"the board calls a tool of the server, {REVISION}")
        monitor, moments = Monitor(str(control)), random.Random(1)
        for number in range(RESETS):
            monitor.execute("system_reset")
            if number % 2:
                # The board is reset while it connects, or afterwards.
                time.sleep(moments.uniform(0, 1))
                monitor.execute("system_reset")
            expect("revision", session(program.stderr), REVISION)
        ok(f"{RESETS} resets, each with a new session")
    finally:
        watchdog.cancel()
        program.terminate()
        program.communicate()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    label = f"python server {SDK} for a board"
    print(label)
    try:
        with tempfile.TemporaryDirectory() as folder:
            check(sys.argv[1], folder)
    except Exception as error:
        print(f"FAILED {label}: {error if isinstance(error, Failed) else repr(error)}")
        sys.exit(1)
    print(f"RESULT {label} | ok", flush=True)


if __name__ == "__main__":
    main()
