"""The performance goals, and whether each is reached."""

import math

from numbers_of import Numbers, short

JSON = ["serde_json slice", "serde_json str"]
PEERS = [*JSON, "sonic-rs", "simd-json"]
PIPES = {"rmcp": "rmcp, pipes"}
WINDOW_1, WINDOW_64, LARGE, HUGE = "16 B, window 1", "16 B, window 64", "64 KiB, window 1", "1 MiB, window 1"

# The reason for each missed goal. docs/performance.md describes how it was found.
LIMITS = {
    "64 KiB of a program written as a string": "nobody is faster; beside serde_json the linker's layout decides, 1.8 to 4.2 ×",
    "… of a program": "nobody is faster; beside serde_json the linker's layout decides, 1.8 to 4.2 ×",
    "its clean release build": "12 s of the CPU time are serde's macros, most of the rest is code of both roles",
    "its size, stripped": "an empty program is 285 kB",
}


class Goals:
    """A row for each goal: its subject, the goal, the result, the verdict, and the result as a factor of the goal."""

    def __init__(self, numbers: Numbers):
        self.numbers = numbers
        self.rows = []

    def best(self, part, case, peers, unit):
        """The smallest value of the peers."""
        values = [self.numbers.get(part, case, peer, unit) for peer in peers]
        return min((value for value in values if not math.isnan(value)), default=math.nan)

    def faster(self, what, part, case, peers, unit, times, ours="mcp-proto", beside="the fastest"):
        mine, theirs = self.numbers.get(part, case, ours, unit), self.best(part, case, peers, unit)
        reached = theirs / mine
        goal = f"{times:g} × as fast as {beside}" if times > 1 else f"as fast as {beside}"
        text = f"{reached:.2f} × ({short(mine)} {unit}, {short(theirs)} {unit})" if reached < 10 else (
            f"{reached:.0f} × ({short(mine)} {unit}, {short(theirs)} {unit})")
        # The goals compare with the transport in rmcp's documentation; rmcp has a faster transport for pipes.
        better = self.numbers.get(part, case, PIPES.get(peers[0], ""), unit)
        if not math.isnan(better):
            text += f"; with its `stdio_pipes` {better / mine:.2g} × ({short(better)} {unit})"
        self.add(what, goal, text, reached / times)

    def at_most(self, what, goal, limit, value, unit):
        # Compare the printed value, which has three significant digits.
        value = value if math.isnan(value) else float(short(value).replace(",", ""))
        self.add(what, goal, f"{short(value)} {unit}".strip(), limit / value if value else math.inf)

    def add(self, what, goal, text, factor):
        if math.isnan(factor):
            verdict, text = "not measured", "–"
        elif factor >= 1:
            verdict = "yes"
        else:
            verdict = f"**no**: {LIMITS[what]}" if what in LIMITS else "**no**"
        self.rows.append((what, goal, text, verdict, factor))


def goals(numbers):
    it = Goals(numbers)
    get = numbers.get
    it.faster("envelope of a call of 200 B, all of it checked", "scan", "call", PEERS, "ns", 2)
    it.faster("the same of 64 KiB of text", "scan", "text", PEERS, "ns", 1)
    it.faster("… of text full of escapes", "scan", "escapes", JSON, "ns", 1.5, beside="serde_json")
    it.faster("… of dense structure", "scan", "dense", JSON, "ns", 1.5, beside="serde_json")
    it.faster("64 KiB of text written as a string", "write", "text", ["serde_json"], "ns", 3, beside="serde_json")
    it.faster("64 KiB of a program written as a string", "write", "code", ["serde_json"], "ns", 3, beside="serde_json")
    whole = "mcp-proto, a whole call"
    it.faster("… of text, as the answer to a call, and all else that is done for it", "write", "text", ["serde_json"], "ns", 3, whole, "serde_json")
    it.faster("… of a program", "write", "code", ["serde_json"], "ns", 3, whole, "serde_json")
    it.faster("round trip in memory, both sides, 16 B", "pair", WINDOW_1, ["rmcp"], "ns", 40, beside="rmcp")
    it.faster("… of two tools in turn", "pair", f"{WINDOW_1}, two tools", ["rmcp"], "ns", 40, beside="rmcp")
    it.at_most("allocations of it", "0", 0, get("pair", WINDOW_1, "mcp-proto", "allocations"), "")
    for who, name in [("std", "server on stdin and stdout, threads"), ("loop", "the same, one loop")]:
        it.faster(f"{name}: 16 B, window 64", "stdio", WINDOW_64, ["rmcp"], "µs", 80, who, "rmcp")
        it.faster(f"{name}: 16 B, window 64", "stdio", WINDOW_64, ["hand"], "µs", 1, who, "the loop by hand")
        it.faster(f"{name}: 16 B, window 1", "stdio", WINDOW_1, ["hand"], "µs", 1 / 1.15, who, "the loop by hand, and 15 %")
        for case, size in [(LARGE, "64 KiB"), (HUGE, "1 MiB")]:
            it.faster(f"{name}: {size}", "stdio", case, ["rmcp"], "µs", 4, who, "rmcp")
            it.faster(f"{name}: {size}", "stdio", case, ["hand"], "µs", 2, who, "the loop by hand")
    it.faster("server over tokio: 16 B, window 64", "stdio", WINDOW_64, ["rmcp"], "µs", 20, "tokio", "rmcp")
    many = "65000 pending"
    it.at_most("memory of a pending request: client", "64 B", 64, get("pending", many, "mcp-proto", "bytes of the client"), "B")
    it.at_most("… server", "64 B and the id", 64 + 8, get("pending", many, "mcp-proto", "bytes of the server"), "B")
    for unit, limit in [("ns", 3), ("instructions", 2)]:
        what = {"ns": "time", "instructions": "instructions"}[unit]
        value = get("pending", many, "mcp-proto", unit) / get("pending", "10 pending", "mcp-proto", unit)
        it.at_most(f"{what} of an operation, 65,000 pending (no table has 100,000 slots)", f"{limit} × that at 10", limit, value, "×")
    value = get("feed", "4 MiB", "mcp-proto", "ns") / get("feed", "1 KiB", "mcp-proto", "ns")
    it.at_most("a byte of a line of 4 MiB that comes byte by byte", "1.2 × that of 1 KiB", 1.2, value, "×")
    it.at_most("packages of the server, without macros", "14", 14, get("size", "packages", "std", ""), "")
    it.at_most("its clean release build", "15 s", 15, get("build", "clean build", "std", "s"), "s")
    it.at_most("its size, stripped", "400 kB", 400, get("size", "small", "std", "kB"), "kB")
    return it.rows
