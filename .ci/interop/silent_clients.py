"""Clients that send the first segment of a TCP connection to a board, and never answer. QEMU takes Ethernet frames as UDP datagrams."""

import contextlib
import itertools
import select
import socket
import struct
import subprocess
import time

from python_client import Failed, expect, ok

BOARD, CLIENT = bytes([10, 0, 2, 15]), bytes([10, 0, 2, 99])
BOARD_MAC, CLIENT_MAC = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 99])
ARP, IPV4 = b"\x08\x06", b"\x08\x00"
SYN, RST, ACK = 2, 4, 16
SOCKETS = 6  # of the board
TIMEOUT = 30  # seconds; the board needs two, but its clock is late if this computer is busy


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def arp(operation, receiver):
    message = struct.pack(">HHBBH", 1, 0x800, 6, 4, operation) + CLIENT_MAC + CLIENT + BOARD_MAC + BOARD
    return receiver + CLIENT_MAC + ARP + message


def first_segment(port):
    """The frame with the SYN from a port of the client to port 80 of the board."""

    def ip(sum):
        return struct.pack(">BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, sum) + CLIENT + BOARD

    def tcp(sum):
        return struct.pack(">HHIIBBHHH", port, 80, 1, 0, 5 << 4, SYN, 1000, sum, 0)

    pseudo = CLIENT + BOARD + struct.pack(">HH", 6, 20)
    return BOARD_MAC + CLIENT_MAC + IPV4 + ip(checksum(ip(0))) + tcp(checksum(pseudo + tcp(0)))


class Line:
    """The Ethernet of a board that is on."""

    def __init__(self, datagrams, board):
        self.datagrams, self.board = datagrams, board

    def send(self, frame):
        self.datagrams.sendto(frame.ljust(60, b"\0"), self.board)

    def receive(self, seconds):
        """The next frame, or no bytes if none arrives in that time."""
        ready, _, _ = select.select([self.datagrams], [], [], seconds)
        return self.datagrams.recv(2000) if ready else b""

    def connect(self, port):
        """Sends the first segment, and returns the flags of the answer."""
        self.send(first_segment(port))
        end = time.monotonic() + TIMEOUT
        while (left := end - time.monotonic()) > 0:
            frame = self.receive(left)
            if frame[12:14] == ARP:
                self.send(arp(2, BOARD_MAC))
            elif frame[12:14] == IPV4 and frame[36:38] == struct.pack(">H", port):
                return frame[47]
        raise Failed("the board does not answer a SYN")


@contextlib.contextmanager
def powered(qemu, image):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            board = free.getsockname()
        network = f"socket,model=stellaris,udp=127.0.0.1:{datagrams.getsockname()[1]},localaddr=127.0.0.1:{board[1]}"
        process = subprocess.Popen([qemu, image, "-nic", network], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            line = Line(datagrams, board)
            for _ in range(100):
                # The board learns the address of the client from the request.
                line.send(arp(1, b"\xff" * 6))
                if line.receive(0.1):
                    break
            else:
                raise Failed("the board does not answer")
            yield line
        finally:
            process.kill()
            process.wait()


def wait_until_open(line, ports):
    """Sends first segments until a socket of the board takes one."""
    end = time.monotonic() + TIMEOUT
    while line.connect(next(ports)) != SYN | ACK:
        expect("the port opens", time.monotonic() < end, True)
        time.sleep(0.5)


def run(qemu, image):
    ports = itertools.count(4000)
    with powered(qemu, image) as line:
        wait_until_open(line, ports)
        expect("silent clients", [line.connect(next(ports)) for _ in range(1, SOCKETS)], [SYN | ACK] * (SOCKETS - 1))
        expect("a client while all sockets wait", line.connect(next(ports)), RST | ACK)
        wait_until_open(line, ports)
    ok("clients that never complete the handshake")
