"""Writes the tables and charts of docs/performance.md between its marks."""

import math
import re

import charts
from goals import PEERS, WINDOW_1, WINDOW_64, goals
from numbers_of import short

RMCP = ["rmcp", "rmcp, pipes"]
STDIO_DIALECTS = ["handshake", "progress token", "string id", "observer", "2026-07-28", "2026-07-28, id last"]
DIALECT_SERVERS = ["std", "loop", "tokio", "rmcp", "rmcp, pipes", "hand"]
NAMES = {
    "std": "`mcp-proto-std`",
    "tokio": "`mcp-proto-tokio`",
    "loop": "`mcp-proto`, one loop",
    "rmcp": "rmcp",
    "rmcp, pipes": "rmcp, `stdio_pipes`",
    "hand": "hand-written",
    "canned": "canned",
    "mcp-proto": "mcp-proto",
    "tower": "`mcp-proto-tower`",
    "rmcp, sessions": "rmcp, sessions",
    "hyper": "hyper, a constant",
}
CROWDS = ["no others", "idle sessions", "abandoned sessions", "event streams", "slow heads", "deaf clients"]


def name(contestant):
    return NAMES.get(contestant, contestant)


def table(head, rows):
    """A Markdown table whose numbers are aligned to the right."""
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def throughput(numbers, part, only=""):
    """The time for small texts and the throughput for large ones, of the cases that begin with `only`."""
    contestants = numbers.contestants(part, only)
    rows = []
    for case in numbers.cases(part, only):
        size = numbers.bytes(part, case)
        times = [numbers.get(part, case, one, "ns") for one in contestants]
        best = min(times, default=math.nan)
        cells = [short(time) + " ns" if size < 4096 else short(size / time) + " GB/s" for time in times]
        cells = [f"**{cell}**" if time == best else cell for cell, time in zip(cells, times)]
        rows.append([case.removeprefix(only), f"{size:,}", *cells])
    return table(["what", "bytes", *map(name, contestants)], rows)


def stdio(numbers):
    """A row for each server, a column for each length of the text."""
    cases = [case for case in numbers.cases("stdio") if case.count(",") == 1]
    rows = [[name(one), *(short(numbers.get("stdio", case, one, "µs")) for case in cases)] for one in numbers.contestants("stdio")]
    return table(["µs", *cases], rows)


def stdio_dialects(numbers):
    """A row for each dialect and window, a column for each server."""
    rows = []
    for window in [WINDOW_64, WINDOW_1]:
        for dialect in STDIO_DIALECTS:
            case = window if dialect == "handshake" else f"{window}, {dialect}"
            times = [short(numbers.get("stdio", case, one, "µs")) for one in DIALECT_SERVERS]
            rows.append([f"{window.removeprefix('16 B, ')}, {dialect}", short(numbers.bytes("stdio", case)), *times])
    return table(["µs", "bytes of a request", *map(name, DIALECT_SERVERS)], rows)


def http(numbers):
    """A row for each case: the CPU time of a call, and its ratio to a constant response, with quartiles."""
    contestants = numbers.contestants("http")
    rows = []
    for case in numbers.cases("http"):
        cells = []
        for one in contestants:
            time, ratio = numbers.get("http", case, one, "µs"), numbers.get("http", case, one, "× hyper")
            low, high = numbers.get("http", case, one, "× hyper", "quartiles") if not math.isnan(ratio) else (ratio, ratio)
            cells.append(short(time) if one == "hyper" else f"{short(time)}<br>{ratio:.2f} × ({low:.2f} to {high:.2f})")
        rows.append([case, *cells])
    return table(["µs of CPU", *map(name, contestants)], rows)


def http_rate(numbers):
    contestants = numbers.contestants("http")
    per_second = lambda case, one: f"{1e6 / numbers.get('http', case, one, 'µs elapsed'):,.0f}"
    rows = [[case, *(per_second(case, one) for one in contestants)] for case in numbers.cases("http")]
    return table(["calls per second", *map(name, contestants)], rows)


def http_crowd(numbers):
    get = lambda case, one, unit: numbers.get("http-crowd", case, one, unit)
    rows = []
    for one in numbers.contestants("http-crowd"):
        for case in CROWDS:
            growth = get(case, one, "KiB")
            if math.isnan(growth):
                growth = get(case, one, "B each") * get(case, one, "count") / 1024
            each = growth * 1024 / get(case, one, "count")
            times = [get(case, one, unit) for unit in ["ms p50", "ms p99", "ms maximum"]]
            if not math.isnan(times[0]):
                rows.append([f"{name(one)}, {case}", *map(short, [get(case, one, "count"), growth, each, *times])])
    return table(["server, crowd", "count", "growth of memory, KiB", "B each", "median call, ms", "p99, ms", "maximum, ms"], rows)


def connections(numbers):
    """A row for each server and number of connections."""
    rows = []
    for case in numbers.cases("connections"):
        for one in numbers.contestants("connections"):
            memory, after, descriptors, time = (numbers.get("connections", case, one, unit) for unit in ["kB", "kB after calls", "descriptors", "µs"])
            if not math.isnan(memory):
                count = f"{int(case.split()[0]):,}"
                rows.append([name(one), count, *map(short, [memory, after, descriptors, time]), f"{1e6 / time:,.0f}"])
    return table(["server", "connections", "kB each", "after calls, kB each", "descriptors each", "CPU time of a call, µs", "calls per second of CPU time"], rows)


def frames(numbers):
    """A row for each kind of work that a loop of 60 Hz does in a frame."""
    kinds = {
        "ready": "one `poll` of mio, then the connections that are ready or due",
        "poll": "the same, and `Server::poll` of every connection",
        "read": "the same, and a read from every socket",
    }
    rows = [[what, short(numbers.get("connections", f"60 Hz, {kind}", "loop", "%"))] for kind, what in kinds.items()]
    return table(["work of a frame", "% of a processor"], rows)


def pair(numbers):
    rows = []
    for case in numbers.cases("pair"):
        both = [numbers.get("pair", case, one, "ns") / 1000 for one in ["mcp-proto", "rmcp"]]
        allocations = [numbers.get("pair", case, one, "allocations") for one in ["mcp-proto", "rmcp"]]
        size = [numbers.get("pair", case, one, "bytes allocated") for one in ["mcp-proto", "rmcp"]]
        times = f"{short(both[1] / both[0])} ×"
        rows.append([case, *map(short, both), times, *map(short, allocations), *map(short, size)])
    head = ["a call", "mcp-proto, µs", "rmcp, µs", "ratio", "allocations", "rmcp's", "bytes allocated", "rmcp's"]
    return table(head, rows)


def pending(numbers):
    get = lambda case, contestant, unit: short(numbers.get("pending", case, contestant, unit))
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
    units = [("size", "packages", ""), ("size", "release", "kB"), ("size", "small", "kB"), ("size", "minimal", "kB"), ("build", "clean build", "s"), ("build", "clean build", "CPU s")]
    units += [("start", "to the response", "ms"), ("start", "CPU time", "ms"), ("stdio", "16 B, window 64", "peak KiB"), ("stdio", "1 MiB, window 1", "peak KiB")]
    rows = [[name(one), *(short(numbers.get(part, case, one, unit)) for part, case, unit in units)] for one in numbers.contestants("size")]
    head = ["server", "packages", "release, kB", "small, kB", "minimal, kB", "clean build, s", "its CPU, s", "start to response, ms", "of which CPU, ms", "peak after 16 B, KiB", "after 1 MiB, KiB"]
    return table(head, rows)


def machine(numbers):
    return "\n".join(f"- {what}: {value}" for what, value in numbers.facts().items())


def goal_table(numbers):
    lines = ["| what | compared with | gate | goal | result | reached |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in goals(numbers)])


def ratio_chart(numbers):
    """Speed relative to the fastest other library."""
    rows = []
    for part, unit, peers, cases in [
        ("scan", "ns", PEERS, ["call", "text 1 KiB", "text", "umlauts", "code", "escapes", "dense"]),
        ("write", "ns", ["serde_json", "sonic-rs", "simd-json"], ["text 1 KiB", "text", "umlauts", "code", "escapes"]),
        ("pair", "ns", ["rmcp"], [WINDOW_1, f"{WINDOW_1}, 2026-07-28", WINDOW_64, "64 KiB, window 1"]),
    ]:
        verb = {"scan": "scan", "write": "write", "pair": "both roles"}[part]
        for case in cases:
            add(rows, numbers, f"{verb}: {case}", part, case, unit, "mcp-proto", peers)
        if part == "write":
            for case in ["text", "umlauts", "code"]:
                add(rows, numbers, f"a whole call: {case}", part, case, unit, "mcp-proto, a whole call", peers)
    for ours, verb in [("std", "server, threads"), ("loop", "server, one loop"), ("tokio", "server, tokio")]:
        for case in [WINDOW_1, WINDOW_64, f"{WINDOW_64}, 2026-07-28", "64 KiB, window 1"]:
            add(rows, numbers, f"{verb}: {case}", "stdio", case, "µs", ours, RMCP)
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
        (name(one).replace("`", ""), [size / numbers.get("stdio", case, one, "µs") for _, size, case in cases])
        for one in ["std", "loop", "tokio", "rmcp, pipes", "hand", "canned"]
    ]
    return charts.lines("Echo servers behind pipes: MB of text per second of the server's CPU time", "length of the text", [(label, size) for label, size, _ in cases], series)


def pending_chart(numbers):
    marks = [(f"{int(case.split()[0]):,}", int(case.split()[0])) for case in numbers.cases("pending")]
    series = [(one, [numbers.get("pending", case, one, "ns") / 1000 for case in numbers.cases("pending")]) for one in ["mcp-proto", "rmcp"]]
    return charts.lines("One request answered and another one sent, while many are pending: µs, both roles", "requests pending", marks or [("", 1)], series)


def flash_chart(footprint):
    """The rows of docs/footprint.md: whole images, then the modules of one image."""
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
        "stdio": stdio(numbers),
        "stdio dialects": stdio_dialects(numbers),
        "http": http(numbers),
        "http rate": http_rate(numbers),
        "http crowd": http_crowd(numbers),
        "connections": connections(numbers),
        "frames": frames(numbers),
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
