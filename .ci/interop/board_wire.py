"""Checks of a board's input: garbage, oversized lines, breaks and disconnected clients."""

import json
import threading
import time

from board_line import META, Line, text
from python_client import expect, ok

def garbage(path):
    line = Line(path).begins()
    line.connects()
    for noise in (b"\n\r\n", b"\x00\xff\xfe\x01\n", b"U-Boot 2026.01\n", b'{"jsonrpc":"2.0","id":5,\n', b"[]\n", b"{}\n"):
        line.sends(noise)
        expect(f"a call behind {noise}", text(line.calls(1, "led_set", {"on": True}, {})), "the LED is on")
    ok("garbage between messages")
    call = {"name": "settings_write", "arguments": {"text": "x" * 4000}}
    line.says(id=2, method="tools/call", params=call)
    error = line.answer(2)["error"]
    expect("a line over the limit", error["code"], -32600)
    line.sends(b'{"text":"' + b"y" * 100_000 + b'","jsonrpc":"2.0","id":3,"method":"ping"}\n')
    expect("one that is far over it", line.answer(3)["error"]["code"], -32600)
    expect("a call behind it", text(line.calls(4, "temperature", {}, {})).startswith('{"celsius":'), True)
    ok("lines over the limit, each answered with its own id")


def full_speed(path):
    """No input is lost at full speed, because the UART makes QEMU wait until the board has read."""
    line = Line(path).begins()
    line.connects()
    count, params = 300, {"name": "led_set", "arguments": {"on": True}}
    calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in range(count)]
    calls = "".join(json.dumps(call) + "\n" for call in calls).encode()
    # The client must read while it writes, because QEMU stops when the client does not read.
    writer = threading.Thread(target=line.sends, args=[calls], daemon=True)
    writer.start()
    for number in range(count):
        expect("an answer", text(line.answer(number)), "the LED is on")
    ok(f"{count} calls without waiting for answers")


def batches(path):
    line = Line(path).begins()
    line.connects(revision="2025-03-26")
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "temperature"}}
    line.sends(json.dumps([{**call, "id": 1}, {**call, "id": 2}]).encode() + b"\n")
    expect("a batch", [answer["id"] for answer in line.hears()], [1, 2])
    ok("a batch")


def without_a_mark(path):
    """Clients that send a newline instead of the session mark."""
    for number in range(20):
        old = Line(path).begins()
        old.connects()
        old.says(id=1, method="tools/call", params={"name": "self_test", "_meta": {"progressToken": 1}})
        old.notice("notifications/progress")
        old.sends(b'{"jsonrpc":"2.0","id":7,"method":"tools/ca')
        old.socket.close()
        time.sleep(0.01 * (number % 4))
        new = Line(path)
        new.sends(b"\n")
        # The handshake cancels the old call, whose progress may arrive until then.
        new.connects(1)
        expect("the new client's test", text(new.calls(2, "self_test", {}, {})), "test passed")
        expect("nothing else", new.is_silent(0.1), b"")
        new.socket.close()
    ok("20 clients of the handshake era without a mark: `initialize` cancels the requests of the old client")

    old = Line(path).begins()
    old.says(id=1, method="tools/call", params={"name": "self_test", "_meta": META})
    old.sends(b'{"jsonrpc":"2.0","id":2,"method":"tools/ca')
    time.sleep(0.1)
    old.socket.close()
    new = Line(path)
    new.sends(b"\n")
    broken = new.hears()
    expect("the broken line", (broken.get("id"), broken["error"]["code"]), (2, -32700))
    refused = new.calls(1, "led_set", {"on": True})
    expect("the id of the old call", refused["error"]["code"], -32600)
    expect("another id", text(new.calls(2, "led_set", {"on": True})), "the LED is on")
    expect("the old call's answer comes to the new client", text(new.answer(1)), "test passed")
    new.socket.close()
    ok("a client of the stateless era without a mark gets errors for ids in flight, and receives old responses")


def breaks(path):
    """A break on the line is also a session mark. QEMU uses Telnet here, in which a break is two bytes."""
    line = Line(path)
    line.is_silent(0.5)  # skip the Telnet negotiation
    for _ in range(20):
        line.says(id=1, method="tools/call", params={"name": "self_test", "_meta": {**META, "progressToken": 1}})
        line.notice("notifications/progress")
        # The answers keep the board sending when the break arrives.
        for number in (3, 4, 5):
            line.says(id=number, method="tools/list", params={"_meta": META})
        line.sends(b'{"jsonrpc":"2.0","id":2,"method":"tools/ca' + b"\xff\xf3\n")
        expect("a call with the id of the old one", text(line.calls(1, "led_set", {"on": True})), "the LED is on")
        expect("the new client's test", text(line.calls(2, "self_test")), "test passed")
        line.sends(b"\xff\xf3\n")
    ok("20 breaks, each in the middle of a line, of a slow call and of answers")


def check(path):
    for group in (garbage, batches, without_a_mark):
        group(path)
