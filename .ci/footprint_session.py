"""A session with a board that uses every feature, in every revision."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

from board_line import META, STATELESS, text

SETTINGS, LED = "board://settings", "board://pin/led"
CLIENT = {"elicitation": {"form": {}}, "sampling": {}, "roots": {"listChanged": True}}
ANSWERS = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
    "sampling/createMessage": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "a word"}},
    "roots/list": {"roots": [{"uri": "file:///home/ada"}]},
}
WHOM = {"elicitation/create": "user", "sampling/createMessage": "model", "roots/list": "client"}
# A text of which each byte must be escaped in JSON.
LONG = '"' * 700


def requests(line, meta):
    """Requests that both eras have."""
    asks = lambda number, method, **params: line.asks(number, method, **params, _meta=meta)["result"]
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        asks(1, method)
    for name, arguments in (("led_set", {"on": True}), ("temperature", {}), ("settings_write", {"text": LONG})):
        asks(2, "tools/call", name=name, arguments=arguments)
    assert asks(3, "resources/read", uri=SETTINGS)["contents"][0]["text"] == LONG
    assert asks(4, "resources/read", uri=LED)["contents"][0]["text"] == "high"
    asks(5, "prompts/get", name="diagnose", arguments={"symptom": "is too hot"})
    for ref, name in (
        ({"type": "ref/prompt", "name": "diagnose"}, "symptom"),
        ({"type": "ref/resource", "uri": "board://pin/{name}"}, "name"),
    ):
        asks(6, "completion/complete", ref=ref, argument={"name": name, "value": ""})
    test = asks(7, "tools/call", name="self_test", arguments={})
    assert test["content"][0]["text"] == "test passed", test
    line.says(id=8, method="tools/call", params={"name": "self_test", "_meta": {**meta, "progressToken": "p" * 20}})
    line.notice("notifications/progress")
    line.says(method="notifications/cancelled", params={"requestId": 8, "reason": "changed my mind"})


def refused(line, meta):
    for params in ({"name": "nothing"}, {"name": "led_set", "arguments": {"on": "yes"}}, {}):
        line.asks(9, "tools/call", **params, _meta=meta)
    line.asks(9, "resources/read", uri="board://nothing", _meta=meta)
    line.asks(9, "tools/list", cursor="nothing", _meta=meta)
    line.asks(9, "no/such/method", _meta=meta)
    line.sends(b'{"jsonrpc":"2.0","id":9,"method":"ping","x":"' + b"y" * 5000 + b'"}\n')
    line.answer(9)
    line.sends(b'{"jsonrpc":"2.0","id":9,"method":"ping","x":' + b"[" * 200 + b"]" * 200 + b"}\n")
    line.answer(9)
    line.sends(b"\x00\xff no JSON at all\n{}\n[]\n" + b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n')


def handshake(line, revision):
    line.connects(revision=revision, capabilities=CLIENT)
    line.asks(1, "logging/setLevel", level="debug")
    line.asks(1, "resources/subscribe", uri=SETTINGS)
    requests(line, {})
    for method, answer in ANSWERS.items():
        if method == "elicitation/create" and revision < "2025-06-18":
            continue
        line.says(id=10, method="tools/call", params={"name": "ask", "arguments": {"of": WHOM[method]}})
        line.says(id=line.notice(method)["id"], result=answer)
        assert text(line.answer(10)), method
    if revision == "2025-03-26":
        line.sends(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]\n')
        assert len(line.hears()) == 2
    refused(line, {})
    line.asks(11, "resources/unsubscribe", uri=SETTINGS)


def stateless(line):
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": CLIENT}
    meta["io.modelcontextprotocol/logLevel"] = "debug"
    line.asks(1, "server/discover", _meta=meta)
    wanted = {"resourceSubscriptions": [SETTINGS, "board://temperature"]}
    line.says(id="heard", method="subscriptions/listen", params={"notifications": wanted, "_meta": meta})
    requests(line, meta)
    for method, answer in ANSWERS.items():
        params = {"name": "ask", "arguments": {"of": WHOM[method]}, "_meta": meta}
        assert line.asks(10, "tools/call", **params)["result"]["resultType"] == "input_required"
        assert text(line.asks(11, "tools/call", **params, inputResponses={"input": answer}))
    refused(line, meta)
    line.says(method="notifications/cancelled", params={"requestId": "heard", "_meta": meta})


def everything(line):
    for revision in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        line.begins()
        handshake(line, revision)
    line.begins()
    stateless(line)
    line.begins()
    assert STATELESS in str(line.asks(1, "server/discover", _meta=META))


def tools(line):
    """A session with a board that has only tools, in both eras."""
    line.connects()
    for meta in ({}, META):
        line.asks(1, "tools/list", _meta=meta)
        for arguments in ({"on": True}, {"on": "yes"}, {}):
            line.asks(2, "tools/call", name="led_set", arguments=arguments, _meta=meta)
        line.asks(3, "tools/call", name="self_test", arguments={}, _meta={**meta, "progressToken": "p" * 20})
        line.asks(4, "tools/call", name="nothing", _meta=meta)
    line.sends(b"no JSON\n")
    line.asks(5, "no/such/method", _meta=META)


def smallest(line):
    """A session with a board that has one untyped tool and the handshake era."""
    line.connects()
    line.asks(1, "tools/list")
    for arguments in ({"on": True}, {"on": "yes"}, {}):
        line.asks(2, "tools/call", name="led_set", arguments=arguments, _meta={"progressToken": "p" * 20})
    line.asks(3, "tools/call", name="nothing")
    line.asks(4, "ping")
    line.sends(b"no JSON\n")
    line.sends(b'{"jsonrpc":"2.0","id":5,"method":"ping","x":"' + b"y" * 2000 + b'"}\n')
    line.answer(5)
    line.asks(6, "no/such/method")


def post(line, number, method, fields="", **params):
    """Sends a request of 2026-07-28 over HTTP."""
    meta = {**META, "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1.0.0"}, "progressToken": "p" * 20}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}})
    name = f"Mcp-Name: {params['name']}\r\n" if "name" in params else ""
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Method: {method}\r\n{name}{fields}"
    head += "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nUser-Agent: " + "x" * 100
    line.sends(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


def response(line, status=200):
    """Reads a response with a length or with chunks."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += line.socket.recv(4096)
    head, body = text.split(b"\r\n\r\n", 1)
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), text
    lengths = [int(field.split(b":")[1]) for field in head.split(b"\r\n") if field.startswith(b"content-length:")]
    while len(body) < lengths[0] if lengths else not body.endswith(b"0\r\n\r\n"):
        body += line.socket.recv(4096)
    return body


def http(one, two):
    """A session over HTTP with two connections."""
    post(one, 1, "server/discover")
    assert b"2026-07-28" in response(one)
    post(one, 2, "tools/list")
    assert b"self_test" in response(one)
    for on in (True, False, "yes"):
        post(one, 3, "tools/call", name="led_set", arguments={"on": on})
        assert (b"isError" in response(one)) == (on == "yes")
    with ThreadPoolExecutor() as readers:
        # QEMU stops while a socket is full, so both are read at the same time.
        responses = readers.map(response, (one, two))
        for line in (one, two):
            post(line, "i" * 18, "tools/call", name="self_test", arguments={})
            time.sleep(0.1)
        assert [b"test passed" in it for it in responses] == [True, False]
    post(one, 4, "no/such/method")
    response(one, 404)
    post(one, 5, "tools/call", name="nothing")
    response(one)
    post(one, 6, "tools/list", "Origin: http://evil.example\r\n")
    response(one, 403)
    two.sends(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Name: " + b"x" * 1000)
    response(two, 431)
