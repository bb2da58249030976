"""Writes the tables and charts of docs/performance.md between its marks."""

import math
import re

import charts
from goals import PEERS, goals
from numbers_of import short

RMCP = ["rmcp", "rmcp, pipes"]
NAMES = {
    "std": "`mcp-proto-std`",
    "tokio": "`mcp-proto-tokio`",
    "loop": "`mcp-proto`, one loop",
    "rmcp": "rmcp",
    "rmcp, pipes": "rmcp, `stdio_pipes`",
    "hand": "by hand",
    "canned": "canned",
    "mcp-proto": "mcp-proto",
}


def name(who):
    return NAMES.get(who, who)


def table(head, rows):
    """A Markdown table whose numbers are aligned to the right."""
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def throughput(numbers, part, only=""):
    """Time for small texts, throughput for large ones; only for cases that begin with `only`."""
    who = numbers.everyone(part, only)
    rows = []
    for case in numbers.cases(part, only):
        size = numbers.bytes(part, case)
        times = [numbers.get(part, case, one, "ns") for one in who]
        best = min(times, default=math.nan)
        cells = [short(time) + " ns" if size < 4096 else short(size / time) + " GB/s" for time in times]
        cells = [f"**{cell}**" if time == best else cell for cell, time in zip(cells, times)]
        rows.append([case.removeprefix(only), f"{size:,}", *cells])
    return table(["what", "bytes", *map(name, who)], rows)


def by_case(numbers, part, unit):
    who = [one for one in numbers.everyone(part) if any(numbers.get(part, case, one, unit) >= 0 for case in numbers.cases(part))]
    rows = [[name(one), *(short(numbers.get(part, case, one, unit)) for case in numbers.cases(part))] for one in who]
    return table([unit, *numbers.cases(part)], rows)


def pair(numbers):
    rows = []
    for case in numbers.cases("pair"):
        both = [numbers.get("pair", case, who, "ns") / 1000 for who in ["mcp-proto", "rmcp"]]
        allocations = [numbers.get("pair", case, who, "allocations") for who in ["mcp-proto", "rmcp"]]
        size = [numbers.get("pair", case, who, "bytes allocated") for who in ["mcp-proto", "rmcp"]]
        times = f"{short(both[1] / both[0])} ×"
        rows.append([case, *map(short, both), times, *map(short, allocations), *map(short, size)])
    head = ["a call, both sides", "mcp-proto, µs", "rmcp, µs", "ratio", "allocations", "rmcp's", "bytes allocated", "rmcp's"]
    return table(head, rows)


def pending(numbers):
    get = lambda case, who, unit: short(numbers.get("pending", case, who, unit))
    ours = ["bytes of the client", "bytes of the server", "bytes of both", "ns", "instructions"]
    rows = [
        [case, *(get(case, "mcp-proto", unit) for unit in ours), *(get(case, "rmcp", unit) for unit in ["bytes of both", "ns"])]
        for case in numbers.cases("pending")
    ]
    head = ["requests", "client, B each", "server, B each", "both, B each", "exchange, ns", "instructions", "rmcp: both, B each", "exchange, ns"]
    return table(head, rows)


def feed(numbers):
    rows = [[case, short(numbers.get("feed", case, "mcp-proto", "ns"))] for case in numbers.cases("feed")]
    return table(["line", "ns for a byte"], rows)


def instructions(numbers):
    rows = [[case, short(numbers.get("guard", case, "mcp-proto", "instructions"))] for case in numbers.cases("guard")]
    return table(["workload", "instructions"], rows)


def sizes(numbers):
    units = [("size", "packages", ""), ("size", "release", "kB"), ("size", "small", "kB"), ("build", "clean build", "s"), ("build", "clean build", "CPU s")]
    units += [("start", "to the answer", "ms"), ("start", "worked", "ms"), ("stdio", "16 B, window 64", "peak KiB"), ("stdio", "1 MiB, window 1", "peak KiB")]
    who = numbers.everyone("size")
    rows = [[name(one), *(short(numbers.get(part, case, one, unit)) for part, case, unit in units)] for one in who]
    head = ["server", "packages", "release, kB", "small, kB", "clean build, s", "its CPU, s", "start to answer, ms", "of which CPU, ms", "peak after 16 B, KiB", "after 1 MiB, KiB"]
    return table(head, rows)


def machine(numbers):
    return "\n".join(f"- {what}: {value}" for what, value in numbers.facts().items())


def goal_table(numbers):
    lines = ["| what | goal | reached | |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {what} | {goal} | {text} | {verdict} |" for what, goal, text, verdict, _ in goals(numbers)])


def ratio_chart(numbers):
    """Speed relative to the fastest other library."""
    rows = []
    for part, unit, peers, cases in [
        ("scan", "ns", PEERS, ["call", "text 1 KiB", "text", "umlauts", "code", "escapes", "dense"]),
        ("write", "ns", ["serde_json", "sonic-rs", "simd-json"], ["text 1 KiB", "text", "umlauts", "code", "escapes"]),
        ("pair", "ns", ["rmcp"], ["16 B, window 1", "16 B, window 64", "64 KiB, window 1"]),
    ]:
        verb = {"scan": "scan", "write": "write", "pair": "both roles"}[part]
        for case in cases:
            add(rows, numbers, f"{verb}: {case}", part, case, unit, "mcp-proto", peers)
        if part == "write":
            for case in ["text", "umlauts", "code"]:
                add(rows, numbers, f"a whole call: {case}", part, case, unit, "mcp-proto, a whole call", peers)
    for who, verb in [("std", "server, threads"), ("loop", "server, one loop"), ("tokio", "server, tokio")]:
        for case in ["16 B, window 1", "16 B, window 64", "64 KiB, window 1"]:
            add(rows, numbers, f"{verb}: {case}", "stdio", case, "µs", who, RMCP)
    return charts.bars("Times faster than the fastest other library (logarithmic; to the left of the line: slower)", rows, True)


def add(rows, numbers, label, part, case, unit, ours, peers):
    mine = numbers.get(part, case, ours, unit)
    times, best = min(((numbers.get(part, case, peer, unit), peer) for peer in peers if numbers.get(part, case, peer, unit) > 0), default=(math.nan, ""))
    factor = times / mine
    rows.append((label, factor, f"{charts.number(factor)} × {best}", 0 if factor >= 1 else 1))


def size_chart(numbers):
    """Bytes of text that a server echoes per second of its CPU time."""
    cases = [("16 B", 16, "16 B, window 64"), ("1 KiB", 1 << 10, "1 KiB, window 64"), ("64 KiB", 1 << 16, "64 KiB, window 1"), ("1 MiB", 1 << 20, "1 MiB, window 1")]
    series = [
        (name(who).replace("`", ""), [size / numbers.get("stdio", case, who, "µs") for _, size, case in cases])
        for who in ["std", "loop", "tokio", "rmcp, pipes", "hand", "canned"]
    ]
    return charts.lines("Echo servers behind pipes: MB of text for each second of the server's own time", "length of the text", [(label, size) for label, size, _ in cases], series)


def pending_chart(numbers):
    marks = [(f"{int(case.split()[0]):,}", int(case.split()[0])) for case in numbers.cases("pending")]
    series = [(who, [numbers.get("pending", case, who, "ns") / 1000 for case in numbers.cases("pending")]) for who in ["mcp-proto", "rmcp"]]
    return charts.lines("One request answered and another one sent, while many are pending: µs, both sides", "requests pending", marks or [("", 1)], series)


def flash_chart(footprint):
    """The rows of docs/footprint.md: whole images, then the modules of one."""
    rows = []
    for label, is_now in re.findall(r"^\| ((?:flash of|the same, with)[^|]*?) \| ([\d,]+) \|", footprint, re.M):
        rows.append((label.replace("`", ""), is_now, 0))
    modules = footprint.split("| module | bytes |")[1].split("\n\n")[0]
    for label, size in re.findall(r"^\| (.*?) \| ([\d,]+) \|$", modules, re.M):
        rows.append((re.split("[:,]", label.replace("`", ""))[0], size, 2))
    values = [(label, int(size.replace(",", "")), f"{size} B", color) for label, size, color in rows]
    return charts.bars("Flash of a server on a Cortex-M0: images, and where that of blinky goes", values)


def write(numbers, root):
    document = root / "docs/performance.md"
    folder = root / "docs/performance"
    text = document.read_text()
    for mark, content in {
        "machine": machine(numbers),
        "goals": goal_table(numbers),
        "scan": throughput(numbers, "scan"),
        "write": throughput(numbers, "write"),
        "native scan": throughput(numbers, "native", "scan: "),
        "native write": throughput(numbers, "native", "write: "),
        "pair": pair(numbers),
        "stdio": by_case(numbers, "stdio", "µs"),
        "pending": pending(numbers),
        "feed": feed(numbers),
        "instructions": instructions(numbers),
        "sizes": sizes(numbers),
    }.items():
        begin, end = f"<!-- {mark} -->\n", "<!-- end -->"
        before, rest = text.split(begin)
        text = before + begin + content + "\n" + end + rest.split(end, 1)[1]
    document.write_text(text)
    (folder / "ratio.svg").write_text(ratio_chart(numbers))
    (folder / "size.svg").write_text(size_chart(numbers))
    (folder / "pending.svg").write_text(pending_chart(numbers))
    (folder / "flash.svg").write_text(flash_chart((root / "docs/footprint.md").read_text()))
