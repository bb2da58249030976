#!/usr/bin/env python3
"""Kills a client during its task on a board in QEMU. Another client gets the result by the id of the task.

    board_tasks.py BRIDGE INSPECT IMAGE

The client is `mcp-inspect`, which starts `mcp-serial-bridge`. The board starts once; its UART is a
pseudo-terminal. Prints each check, and stops at the first failure with exit code 1 and a line that starts with FAILED.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

from bridge_client import board
from python_client import Failed, expect, ok

PATIENCE = 30  # seconds for one client
RESULT = "21.5 °C"


class Client:
    """A client with a bridge. Both inherit the end of a pipe, which closes when both have ended."""

    def __init__(self, command):
        self.ended, inherited = os.pipe()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, pass_fds=[inherited], text=True)
        os.close(inherited)

    def first(self, pattern):
        """Returns the first match in the output."""
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(pattern, line):
                return found
        raise Failed(f"the client has ended: {said}")

    def kill(self):
        self.process.kill()
        self.wait()

    def wait(self):
        said = self.process.communicate(timeout=PATIENCE)[0]
        os.read(self.ended, 1)  # the end of the bridge
        os.close(self.ended)
        return self.process.returncode, said


def survives(inspect, bridge, era, pause):
    """The task continues while no client is connected, for at least `pause` seconds."""
    first = Client([*inspect, "--era", era, "--call", "measure", "--", *bridge])
    task = first.first(r"^task (\w+) working").group(1)
    first.kill()
    time.sleep(pause)
    code, said = Client([*inspect, "--era", era, "--task", task, "--", *bridge]).wait()
    if code != 0 or RESULT not in said:
        raise Failed(f"the second client does not get the result: {said}")
    code, said = Client([*inspect, "--era", era, "--task", task[::-1], "--", *bridge]).wait()
    expect("exit code for an unknown task", code, 1)
    expect("its error", "-32602" in said, True)
    ok(f"{era}: a client was killed, and another one got the result of its task after {pause} seconds")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    bridge, inspect, image = sys.argv[1:]
    label = "inspect | tasks that survive their client"
    print(label)
    try:
        with tempfile.TemporaryDirectory() as folder, board(image, folder) as (line, _):
            for era in ("legacy", "modern"):
                for pause in (0, 7):
                    survives([inspect], [bridge, line.port], era, pause)
    except Exception as error:
        print(f"FAILED {label}: {error if isinstance(error, Failed) else repr(error)}")
        sys.exit(1)
    print(f"RESULT {label} | ok", flush=True)


if __name__ == "__main__":
    main()
