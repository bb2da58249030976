"""The gates and goals of performance, and which of them are reached."""

import math

from numbers_of import Numbers, short

JSON = ["serde_json slice", "serde_json str"]
PEERS = [*JSON, "sonic-rs", "simd-json"]
WINDOW_1, WINDOW_64, LARGE, HUGE = "16 B, window 1", "16 B, window 64", "64 KiB, window 1", "1 MiB, window 1"
# Cases whose times are compared: calls with a text of 16 bytes, which differ in the dialect, or have observers.
DIALECTS = {
    "both roles": [WINDOW_1, *(f"{WINDOW_1}, {it}" for it in ["progress token", "observers", "2026-07-28", "2026-07-28, progress token"])],
    "server alone": [f"16 B, server alone, {it}" for it in ["handshake", "progress token", "string id", "2026-07-28", "2026-07-28, id last"]],
}

LAYOUT = "no other library is faster; the time of serde_json depends on the linker's layout: 1.8 to 4.2 ×"
# The reason for each missed goal. docs/performance.md describes how the reasons were found.
REASONS = {
    "64 KiB of a program, written as a string": LAYOUT,
    "64 KiB of a program, written as the response to a call": LAYOUT,
    "size of the server, stripped": "an empty program is 298 kB",
}


class Goals:
    """A row for each goal: its subject, the peer, the gate, the goal, the result, and whether both are reached.

    A gate is the value that every version must reach; a goal is the value to work for. Either may be missing."""

    def __init__(self, numbers: Numbers):
        self.numbers = numbers
        self.rows = []

    def best(self, part, case, peers, unit):
        """The smallest value of the peers."""
        values = [self.numbers.get(part, case, peer, unit) for peer in peers]
        return min((value for value in values if not math.isnan(value)), default=math.nan)

    def faster(self, what, part, case, peers, unit, gate=None, goal=None, ours="mcp-proto", beside="the fastest"):
        """Adds a row: the peer's time divided by ours, which must be at least the gate and the goal."""
        mine, theirs = self.numbers.get(part, case, ours, unit), self.best(part, case, peers, unit)
        ratio = theirs / mine
        text = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2f}"
        text = f"{text} × ({short(mine)} {unit}, {short(theirs)} {unit})"
        limits = ["–" if limit is None else f"≥ {limit:g} ×" for limit in [gate, goal]]
        self.add(what, beside, limits, text, *(limit and ratio / limit for limit in [gate, goal]))

    def at_most(self, what, value, unit, gate=None, goal=None, beside="–"):
        """Adds a row whose value must be at most the gate and the goal."""
        # Compare the printed value, which has three significant digits.
        value = value if math.isnan(value) else float(short(value).replace(",", ""))
        limits = ["–" if limit is None else f"≤ {limit:g} {unit}".strip() for limit in [gate, goal]]
        factor = lambda limit: None if limit is None else limit / value if value else math.inf
        self.add(what, beside, limits, f"{short(value)} {unit}".strip(), factor(gate), factor(goal))

    def add(self, what, beside, limits, text, gate, goal):
        factors = [factor for factor in [gate, goal] if factor is not None]
        if any(math.isnan(factor) for factor in factors):
            verdict, text = "not measured", "–"
        elif all(factor >= 1 for factor in factors):
            verdict = "yes"
        elif gate is not None and gate >= 1:
            verdict = "the gate only"
        else:
            verdict = f"**no**: {REASONS[what]}" if what in REASONS else "**no**"
        self.rows.append((what, beside, *limits, text, verdict))

    def spread(self, what, part, cases, contestant, unit, gate, goal):
        """Adds a row: the time of the slowest case divided by that of the fastest."""
        values = [self.numbers.get(part, case, contestant, unit) for case in cases]
        self.at_most(what, math.nan if any(map(math.isnan, values)) else max(values) / min(values), "×", gate, goal, "the fastest dialect")


def goals(numbers):
    table = Goals(numbers)
    get = numbers.get
    table.faster("envelope of a call of 200 B, validated", "scan", "call", PEERS, "ns", goal=2)
    table.faster("envelope of 64 KiB of text", "scan", "text", PEERS, "ns", goal=1)
    table.faster("envelope of 64 KiB of text full of escapes", "scan", "escapes", JSON, "ns", goal=1.5, beside="serde_json")
    table.faster("envelope of 64 KiB of dense structure", "scan", "dense", JSON, "ns", goal=1.5, beside="serde_json")
    for ours, form in [("mcp-proto", "a string"), ("mcp-proto, a whole call", "the response to a call")]:
        for case, text in [("text", "text"), ("code", "a program")]:
            table.faster(f"64 KiB of {text}, written as {form}", "write", case, ["serde_json"], "ns", goal=3, ours=ours, beside="serde_json")
    in_memory(table)
    over_stdio(table)
    over_http(table)
    many = "65000 pending"
    table.at_most("memory of a pending request: client", get("pending", many, "mcp-proto", "bytes of the client"), "B", goal=64)
    table.at_most("memory of a pending request: server, with its id", get("pending", many, "mcp-proto", "bytes of the server"), "B", goal=64 + 8)
    for unit, goal in [("ns", 3), ("instructions", 2)]:
        what = {"ns": "time", "instructions": "instructions"}[unit]
        value = get("pending", many, "mcp-proto", unit) / get("pending", "10 pending", "mcp-proto", unit)
        table.at_most(f"{what} of an operation, 65,000 pending", value, "×", goal=goal, beside="10 pending")
    value = get("feed", "4 MiB", "mcp-proto", "ns") / get("feed", "1 KiB", "mcp-proto", "ns")
    table.at_most("time of a byte of a line of 4 MiB that arrives byte by byte", value, "×", goal=1.2, beside="a line of 1 KiB")
    with_many_connections(table)
    table.at_most("packages of the server, without macros", get("size", "packages", "std", ""), "", goal=14)
    table.at_most("clean release build of the server", get("build", "clean build", "std", "s"), "s", gate=20, goal=15)
    table.at_most("clean release build of the server, CPU time", get("build", "clean build", "std", "CPU s"), "s", goal=40)
    table.at_most("size of the server, stripped", get("size", "small", "std", "kB"), "kB", gate=350)
    table.at_most("the same, with `std` built for size", get("size", "minimal", "std", "kB"), "kB", gate=350)
    table.at_most("size of the server, plain `--release`, stripped", get("size", "release", "std", "kB"), "kB", goal=700)
    value = get("guard", "line-router", "mcp-proto", "instructions") / get("guard", "line-session", "mcp-proto", "instructions")
    table.at_most("instructions of a call through a router", value, "×", gate=1.05, beside="a loop that calls its handler")
    return table.rows


def with_many_connections(table):
    get = lambda case, contestant, unit: table.numbers.get("connections", case, contestant, unit)
    for ours, what, goal in [("loop", "one loop", 6), ("tokio", "tokio", 8), ("std", "threads", 16)]:
        table.at_most(f"memory of an idle connection: {what}", get("1000 connections", ours, "kB"), "kB", goal=goal)
    table.at_most("file descriptors of a connection: threads", get("1000 connections", "std", "descriptors"), "", goal=2)
    many = get("10000 connections", "loop", "µs") / get("1000 connections", "loop", "µs")
    table.at_most("CPU time of a call, 10,000 connections in one loop", many, "×", goal=2, beside="1,000 connections")
    table.at_most("loop of 60 Hz with 1,000 idle connections, of a processor", get("60 Hz, ready", "loop", "%"), "%", goal=1)


def in_memory(table):
    for what, case, gate, goal in [
        ("2025-11-25", WINDOW_1, 32, 40),
        ("two tools in turn", f"{WINDOW_1}, two tools", None, 40),
        ("2026-07-28", f"{WINDOW_1}, 2026-07-28", 28, 40),
    ]:
        table.faster(f"round trip in memory, 16 B, {what}", "pair", case, ["rmcp"], "ns", gate, goal, beside="rmcp")
    for what, cases in DIALECTS.items():
        table.spread(f"slowest dialect in memory, 16 B, {what}", "pair", cases, "mcp-proto", "ns", 1.8, 1.3)
    table.at_most("allocations of a round trip", table.numbers.get("pair", WINDOW_1, "mcp-proto", "allocations"), "", goal=0)


def over_stdio(table):
    stateless = f"{WINDOW_64}, 2026-07-28"
    pipes = "rmcp, `stdio_pipes`"
    for ours, name in [("std", "stdio server, threads"), ("loop", "stdio server, one loop")]:
        table.faster(f"{name}: 16 B, window 64", "stdio", WINDOW_64, ["rmcp"], "µs", 100, ours=ours, beside="rmcp")
        table.faster(f"{name}: 16 B, window 64", "stdio", WINDOW_64, ["rmcp, pipes"], "µs", 25, ours=ours, beside=pipes)
        table.faster(f"{name}: 16 B, window 64, 2026-07-28", "stdio", stateless, ["rmcp"], "µs", 60, 80, ours, "rmcp")
        for case, size in [(LARGE, "64 KiB"), (HUGE, "1 MiB")]:
            table.faster(f"{name}: {size}", "stdio", case, ["rmcp"], "µs", goal=4, ours=ours, beside="rmcp")
        for case, what, gate, goal in [
            (WINDOW_1, "16 B, window 1", 1.1, None),
            (WINDOW_64, "16 B, window 64", 0.8, None),
            (LARGE, "64 KiB", 0.6, None),
            (HUGE, "1 MiB", None, 0.5),
        ]:
            ratio = table.numbers.get("stdio", case, ours, "µs") / table.numbers.get("stdio", case, "hand", "µs")
            table.at_most(f"{name}: {what}", ratio, "×", gate, goal, "the hand-written server")
    table.faster("stdio server, tokio: 16 B, window 64", "stdio", WINDOW_64, ["rmcp"], "µs", goal=20, ours="tokio", beside="rmcp")


def over_http(table):
    for revision in ["2025-11-25", "2026-07-28"]:
        for connections in [1, 64]:
            case, what = f"16 B, {connections} open, {revision}", f"HTTP server on hyper: 16 B, {connections} open, {revision}"
            table.at_most(what, table.numbers.get("http", case, "tower", "× hyper"), "×", goal=1.25, beside="hyper with a constant")
            table.faster(what, "http", case, ["rmcp", "rmcp, sessions"], "µs", goal=3, ours="tower", beside="rmcp")
    get = lambda case, unit: table.numbers.get("http-crowd", case, "tower", unit)
    table.at_most("HTTP server: memory of an idle session", get("idle sessions", "B each"), "B", goal=128)
    table.at_most("HTTP server: memory for 100,000 abandoned sessions", get("abandoned sessions", "KiB") / 1024, "MiB", goal=16)
    for case in ["abandoned sessions", "slow heads", "deaf clients"]:
        table.at_most(f"HTTP server: p99 of a call, {case}", get(case, "ms p99"), "ms", goal=50)
