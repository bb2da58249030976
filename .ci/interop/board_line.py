"""A client that sends single lines to a board, without an SDK."""

import contextlib
import json
import socket
import time

STATELESS = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
MARK = b"\n\x04\x04\x04\x04\n"


class Line:
    """The UART of a running board."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(10)
        self.rest = b""

    def sends(self, data):
        self.socket.sendall(data)

    def says(self, **message):
        self.sends(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def hears(self):
        while b"\n" not in self.rest:
            data = self.socket.recv(4096)
            if not data:
                raise ConnectionError("the board has gone")
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def is_silent(self, seconds):
        """Returns the rest of the last input, and the bytes that arrive in that time."""
        end, heard = time.monotonic() + seconds, self.rest
        self.rest = b""
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            with contextlib.suppress(TimeoutError):
                heard += self.socket.recv(4096)
        self.socket.settimeout(10)
        return heard

    def asks(self, number, method, **params):
        self.says(id=number, method=method, params=params)
        return self.answer(number)

    def until(self, fits):
        """Returns the first message that fits. Skips messages of an old session, which may begin with a partial line."""
        while True:
            with contextlib.suppress(ValueError):
                message = self.hears()
                if isinstance(message, dict) and fits(message):
                    return message

    def answer(self, number):
        return self.until(lambda message: message.get("id") == number and "method" not in message)

    def notice(self, method):
        return self.until(lambda message: message.get("method") == method)

    def calls(self, number, name, arguments=None, meta=META):
        return self.asks(number, "tools/call", name=name, arguments=arguments or {}, _meta=meta)

    def begins(self):
        """Begins a session with the mark. Bytes before the answer belong to the old session."""
        self.sends(MARK)
        self.asks("new", "ping")
        return self

    def connects(self, number=0, revision="2025-11-25", capabilities=None):
        client = {"name": "c", "version": "1"}
        params = {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": client}
        answer = self.asks(number, "initialize", **params)
        assert answer["result"]["protocolVersion"] == revision, answer
        self.says(method="notifications/initialized")


def text(answer):
    return answer["result"]["content"][0]["text"]
