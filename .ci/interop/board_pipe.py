#!/usr/bin/env python3
"""Connects stdin and stdout to the UART of a running board, for an SDK that starts its servers itself.

    board_pipe.py SOCKET [--cut BYTES] [--single]

A session begins with the session mark and a ping. Bytes before the answer belong to the old session.
--cut ends the session after BYTES bytes from the client. --single sends each byte separately.
"""

import os
import select
import socket
import sys
import time

PING = b'{"jsonrpc":"2.0","id":"pipe","method":"ping"}\n'


def main():
    path, *options = sys.argv[1:]
    left = int(options[options.index("--cut") + 1]) if "--cut" in options else None
    board = socket.socket(socket.AF_UNIX)
    board.connect(path)
    board.settimeout(10)
    board.sendall(b"\n\x04\x04\x04\x04\n" + PING)
    heard = b""
    while b'"id":"pipe","result"' not in heard or not heard.endswith(b"\n"):
        heard += board.recv(1)
    board.settimeout(None)
    while True:
        ready, _, _ = select.select([0, board], [], [])
        if 0 in ready:
            said = os.read(0, 4096)[:left]
            for piece in [said[at : at + 1] for at in range(len(said))] if "--single" in options else [said]:
                board.sendall(piece)
            if left is not None:
                left -= len(said)
            if not said or left == 0:
                os._exit(0)
        if board in ready:
            heard = board.recv(4096)
            if not heard:
                return
            if not heard.endswith(b"\n"):
                time.sleep(0.001)  # QEMU sends single bytes: let them gather
            while heard:
                heard = heard[os.write(1, heard) :]


if __name__ == "__main__":
    main()
