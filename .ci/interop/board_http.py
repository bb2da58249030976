#!/usr/bin/env python3
"""Drives a board over HTTP in QEMU with the official Python SDK 2.x of this interpreter, with curl, and with raw bytes and frames.

    board_http.py QEMU IMAGE

QEMU is the script that starts an image on its board. Port 80 of the board is a free port of this computer. A line that
starts with RESULT sums up a run; each error is printed in a line that starts with FAILED.
"""

import asyncio
import contextlib
import json
import select
import shutil
import socket
import subprocess
import sys
import time
import warnings

import python_client
import silent_clients
from python_client import SDK, STATELESS, Failed, Problems, Sdk2, expect, ok, text_of

LIMIT = 300  # seconds for a group
TIMEOUT = 60  # seconds for a response, because the emulated board is slow on a busy computer
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@contextlib.contextmanager
def powered(qemu, image):
    """A running board. Returns the port of this computer that is port 80 of the board."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    network = f"user,model=stellaris,hostfwd=tcp:127.0.0.1:{port}-:80"
    board = subprocess.Popen([qemu, image, "-nic", network], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as probe:
                probe.settimeout(1)
                if exchange(probe, "GET", "/").startswith("HTTP/1.1 404"):
                    break
            time.sleep(0.1)
        else:
            raise Failed("the board does not answer")
        yield port
    finally:
        board.kill()
        board.wait()


def request(method, path, body="", **fields):
    """The bytes of a request."""
    names = {"Host": "localhost", "Content-Length": len(body), **{name.replace("_", "-"): it for name, it in fields.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in names.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n{body}"


def call(id, name, arguments):
    """The bytes of a call."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    fields = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}
    return request("POST", "/mcp", body, MCP_Protocol_Version=STATELESS, Mcp_Method="tools/call", Mcp_Name=name, **fields)


def read(connection):
    """Reads a response with a length, and nothing behind it."""
    text = b""
    while b"\r\n\r\n" not in text:
        byte = connection.recv(1)
        if not byte:
            return text.decode()
        text += byte
    lengths = [line.split(b":")[1] for line in text.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    left = int(lengths[0])
    while left > 0:
        piece = connection.recv(left)
        text, left = text + piece, left - len(piece)
        if not piece:
            raise Failed(f"the response is cut: {text}")
    return text.decode()


def exchange(connection, *arguments, **fields):
    connection.sendall(request(*arguments, **fields).encode())
    return read(connection)


async def official(port, mode):
    problems = Problems()
    async with Sdk2([f"http://127.0.0.1:{port}/mcp"], mode, problems) as peer:
        expect("revision", peer.agreed, STATELESS)
        expect("tools", set(await peer.tools()), {"led_set", "self_test"})
        for number in range(100):
            content, _, is_error = await peer.call("led_set", {"on": number % 2 == 0}, timeout=TIMEOUT)
            expect("led_set", (text_of(content), bool(is_error)), ("ok", False))
        for arguments in ({}, {"on": 1}):
            _, _, is_error = await peer.call("led_set", arguments, timeout=TIMEOUT)
            expect(f"led_set {arguments} is an error", is_error, True)
        steps = []

        async def on_progress(value, total, message):
            steps.append((value, total))

        # Two exchanges: the event stream of the test, and the responses to other calls.
        test, beside = asyncio.create_task(peer.call("self_test", {}, timeout=TIMEOUT, progress=on_progress)), 0
        while not test.done():
            expect("beside the test", text_of((await peer.call("led_set", {"on": True}, timeout=TIMEOUT))[0]), "ok")
            beside += not test.done()
        expect("calls are answered while the test runs", beside > 0, True)
        expect("self_test", text_of((await test)[0]), "test passed")
        expect("steps", steps, [(step, 10) for step in range(1, 10)])
        # A client that gives up closes its connection, which cancels the call.
        for _ in range(3):
            with contextlib.suppress(peer.Error):
                await peer.call("self_test", {}, timeout=0.2)
        # The board learns of the last closed connection at about the same time as of the next call.
        while (text := text_of((await peer.call("self_test", {}, timeout=TIMEOUT))[0])) == "a test is running":
            pass
        expect("the test after it", text, "test passed")
    problems.none()
    ok(f"{mode}: lists, 100 calls, refusals, progress beside other calls, cancelled calls")


def curl(port):
    if not shutil.which("curl"):
        return ok("curl is not installed")
    fields = ["Content-Type: application/json", "Accept: application/json", f"MCP-Protocol-Version: {STATELESS}", "Mcp-Method: tools/list"]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}})
    command = ["curl", "--silent", "--show-error", "--max-time", "10", f"http://127.0.0.1:{port}/mcp", "--data", body]
    command += [part for field in fields for part in ("--header", field)]
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    expect("tools", [tool["name"] for tool in answer["result"]["tools"]], ["led_set", "self_test"])
    ok("curl lists the tools")


def wire(port):
    def connect():
        connection = socket.create_connection(("127.0.0.1", port), 10)
        connection.settimeout(TIMEOUT)
        return connection

    def status(text):
        return text.split(" ", 2)[1] if text else "closed"

    with connect() as one, connect() as two:
        one.sendall(call(1, "led_set", {"on": True}).encode() * 2)
        expect("a pipeline", [status(read(one)), status(read(one))], ["200", "200"])
        for byte in call(2, "led_set", {"on": False}).encode():
            two.sendall(bytes([byte]))
        expect("a request in single bytes", status(read(two)), "200")
        for field, wanted in (({"Host": "evil.example"}, "403"), ({"Origin": "http://evil.example"}, "403"), ({}, "415")):
            expect(f"{field}", status(exchange(one, "POST", "/mcp", **field)), wanted)
        expect("GET", status(exchange(one, "GET", "/mcp")), "405")
        # Both connections are taken, so the next client has to wait.
        with connect() as three:
            three.sendall(call(3, "led_set", {"on": True}).encode())
            for number in range(10):
                one.sendall(call(number, "led_set", {"on": True}).encode())
                expect("a call before the third client", status(read(one)), "200")
            readable, _, _ = select.select([three], [], [], 0)
            expect("responses to a third client", readable, [])
            one.sendall(b"nonsense\r\n\r\n")
            text = read(one)
            expect("no HTTP", (status(text), "Connection: close" in text, one.recv(1)), ("400", True, b""))
            one.close()
            expect("a third client", status(read(three)), "200")
    with connect() as idle:
        begun = time.monotonic()
        expect("an idle connection is closed", idle.recv(1), b"")
        # The clock of the board is late if this computer is busy.
        expect("after some seconds", time.monotonic() - begun > 4, True)
    for _ in range(20):
        # The board refuses clients while too many others wait.
        with contextlib.suppress(ConnectionError), connect() as gone:
            gone.sendall(call(4, "self_test", {}).encode())
    for _ in range(100):
        with contextlib.suppress(ConnectionError), connect() as last:
            last.sendall(call(5, "led_set", {"on": True}).encode())
            if status(read(last)) == "200":
                break
        time.sleep(0.1)
    else:
        raise Failed("the board does not answer after clients that left")
    ok("pipelines, single bytes, refusals, a third connection, idle connections, clients that leave")


def attempt(name, group):
    return python_client.attempt(f"python mcp {SDK} | http, {name}", group, LIMIT)


def main():
    warnings.simplefilter("ignore")
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with powered(*sys.argv[1:]) as port:
        fine = attempt("pinned", lambda: official(port, STATELESS))
        fine &= attempt("with a probe", lambda: official(port, "auto"))
        fine &= attempt("curl", lambda: curl(port))
        fine &= attempt("the wire itself", lambda: wire(port))
    fine &= attempt("silent clients", lambda: silent_clients.run(*sys.argv[1:]))
    sys.exit(not fine)


if __name__ == "__main__":
    main()
