#!/usr/bin/env python3
"""Mutation testing of the core and the embedded adapter: see docs/mutants.md.

    run.py TARGET [PATTERN | WORD]...

TARGET is a folder for the copy, the build and the results. PATTERN selects the mutants whose key contains one of the
patterns, such as `src/server/poll.rs`, in the order of the patterns. WORD is `missed` for the mutants that the last run
missed, or `new` for the mutants without a result. Results of several runs add up.
"""

import json
import os
import pathlib
import sys

import measure
import report
import schemata


def selection(mutants, arguments, results):
    """The selected mutants; without arguments, all."""
    words = {"missed": ("missed", "unreached"), "new": (None,)}
    for argument in arguments:
        if argument in words:
            mutants = [one for one in mutants if results.get(one.key, {}).get("verdict") in words[argument]]
    patterns = [argument for argument in arguments if argument not in words]
    if not patterns:
        return mutants
    first = {one: next((at for at, text in enumerate(patterns) if text in one.key), None) for one in mutants}
    return sorted((one for one in mutants if first[one] is not None), key=first.get)


def main(target, *arguments):
    root, target = pathlib.Path.cwd(), pathlib.Path(target)
    jobs = int(os.environ.get("MUTANTS_JOBS", "2"))
    path = target / "results.json"
    results = json.loads(path.read_text()) if path.is_file() else {}
    mutants = schemata.list_mutants(root)
    results = {mutant.key: results[mutant.key] for mutant in mutants if mutant.key in results}
    inside = [mutant for mutant in mutants if mutant.function]
    for mutant in set(mutants) - set(inside):
        results[mutant.key] = {"verdict": "constant", "test": ""}
    uncompiled = target / "uncompiled.json"
    known = json.loads(uncompiled.read_text()) if uncompiled.is_file() else {}
    # Build all mutants, even if only some are selected, so that the next run builds only changed files.
    binaries, dropped = schemata.build(root, target / "tree", inside, known)
    for mutant in dropped:
        results[mutant.key] = {"verdict": "does not compile", "test": ""}
    left = [one for one in inside if one not in dropped]
    measure.judge_all(selection(left, arguments, results), measure.recorded(binaries, jobs), jobs, results, path)
    return report.check(mutants, results, root / "docs/mutants.md", bool(os.environ.get("BLESS")))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
