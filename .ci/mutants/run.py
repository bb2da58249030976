#!/usr/bin/env python3
"""Mutation testing of the core and the embedded adapter: see docs/mutants.md.

    run.py TARGET [PATTERN | K/N]...

TARGET is a folder for the copy, the build and the results. PATTERN selects the mutants whose key contains one of the
patterns, such as `src/server/poll.rs`; `missed` selects those that the last run missed; K/N is the part K of N parts.
Results of several runs add up.
"""

import json
import os
import pathlib
import re
import sys

import measure
import report
import schemata


def selection(mutants, arguments, results):
    """The selected mutants; without arguments, all."""
    for argument in arguments:
        part = re.fullmatch(r"(\d+)/(\d+)", argument)
        if part:
            number, parts = map(int, part.groups())
            # Whole functions, because one build has all mutants of a function.
            functions = sorted({(one.file, one.function or (0, 0)) for one in mutants})
            chosen = set(functions[number - 1 :: parts])
            mutants = [one for one in mutants if (one.file, one.function or (0, 0)) in chosen]
        elif argument == "missed":
            mutants = [one for one in mutants if results.get(one.key, {}).get("verdict") == "missed"]
    patterns = [one for one in arguments if one != "missed" and not re.fullmatch(r"\d+/\d+", one)]
    return [one for one in mutants if not patterns or any(pattern in one.key for pattern in patterns)]


def main(target, *arguments):
    root, target = pathlib.Path.cwd(), pathlib.Path(target)
    jobs = int(os.environ.get("MUTANTS_JOBS", "2"))
    path = target / "results.json"
    results = json.loads(path.read_text()) if path.is_file() else {}
    mutants = schemata.list_mutants(root)
    results = {mutant.key: results[mutant.key] for mutant in mutants if mutant.key in results}
    selected = selection(mutants, arguments, results)
    inside = [mutant for mutant in selected if mutant.function]
    for mutant in set(selected) - set(inside):
        results[mutant.key] = {"verdict": "constant", "test": ""}
    uncompiled = target / "uncompiled.json"
    known = json.loads(uncompiled.read_text()) if uncompiled.is_file() else {}
    binaries, dropped = schemata.build(root, target / "tree", inside, known)
    for mutant in dropped:
        results[mutant.key] = {"verdict": "does not compile", "test": ""}
    tests = measure.recorded(binaries, jobs)
    measure.judge_all([one for one in inside if one not in dropped], tests, jobs, results, path)
    return report.check(mutants, results, root / "docs/mutants.md", bool(os.environ.get("BLESS")))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
