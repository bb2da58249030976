"""The table and the survivors in docs/mutants.md."""

import collections
import re

# The columns of the table, with the verdicts that they count.
COLUMNS = {
    "mutants": "mutants",
    "in constants": "constant",
    "do not compile": "does not compile",
    "caught": "caught",
    "survivors": "missed",
    "reached by no test": "unreached",
    "not tested yet": None,
}
BEGIN, END = "<!-- table: ./.ci/run mutants -->\n", "<!-- end -->\n"


def module(key):
    """The module of a key: `src/json` for `src/json/scanner/mod.rs: …`. Files beside `lib.rs` count as one module."""
    parts = key.split(":", 1)[0].split("/")
    if parts[0] == "adapters":
        return "/".join(parts[:2])
    return "/".join(parts[:2]) if len(parts) > 2 else "src/*.rs"


def table(mutants, results):
    counts = collections.defaultdict(collections.Counter)
    for mutant in mutants:
        verdict = results.get(mutant.key, {}).get("verdict")
        for name in (module(mutant.key), "**all**"):
            counts[name]["mutants"] += 1
            counts[name][verdict] += 1
    columns = {head: verdict for head, verdict in COLUMNS.items() if verdict or counts["**all**"][None]}
    lines = [["module", *columns], ["---", *["---:"] * len(columns)]]
    for name in sorted(counts, key=lambda name: (name == "**all**", name)):
        shown = name if name == "**all**" else f"`{name}`"
        lines.append([shown, *(str(counts[name][verdict]) for verdict in columns.values())])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def explained(text):
    """The survivors that the document lists, each as "- `key`" below its reason."""
    return set(re.findall(r"^- `` ?(.*?) ?``$|^- `([^`]*)`$", text, re.MULTILINE))


def check(mutants, results, path, bless):
    """Prints the table and the survivors without a reason. With `bless`, writes the table. Returns the exit code: 1 if
    1 % of the judged mutants or more survive without a reason."""
    text = path.read_text()
    reasons = {first or second for first, second in explained(text)}
    missed = {mutant.key for mutant in mutants if results.get(mutant.key, {}).get("verdict") in ("missed", "unreached")}
    new = table(mutants, results)
    print(new)
    if bless:
        head, rest = text.split(BEGIN)
        path.write_text(head + BEGIN + new + END + rest.split(END, 1)[1])
    judged = {mutant.key for mutant in mutants if mutant.key in results}
    for key in sorted(missed - reasons):
        print(f"survives without a reason: {key}")
    for key in sorted(reasons - missed):
        if key in judged or not any(mutant.key == key for mutant in mutants):
            print(f"listed in {path.name}, but it does not survive: {key}")
    print(f"{len(missed)} of {len(judged)} mutants survive, {len(missed - reasons)} without a reason")
    return int(len(missed - reasons) * 100 >= max(len(judged), 1))
