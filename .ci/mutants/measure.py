"""Runs the tests that reach a mutant, until one fails."""

import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

# The limit of CPU time for a test, in seconds. A slower test is left out, because the test would run for each mutant
# that it reaches.
SLOWEST = 0.6
# Property tests may take more time, because they are few and catch many mutants.
SLOWEST_PROPERTY = 2.0
# Each mutant first runs alone, in waves. These are the numbers of tests in a wave. One process runs several tests,
# because the start of a process takes time.
WAVES = (4, 12, 24)
# The first wave begins with up to this number of tests that caught other mutants of the function or of the file.
PROVEN = 3
# Then mutants of up to this number of functions run together, with all other tests, because most of these mutants
# survive.
GROUP = 40
CHUNK = 50
MEMORY = 2_000_000_000
# Cases of each property test.
CASES = "60"


def limited(command, folder, seconds, **variables):
    """Runs tests with limits on time and memory. Returns whether they passed, what they wrote, and their CPU time."""
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1", CARGO_MANIFEST_DIR=folder, PROPTEST_RNG_SEED="1",
                       PROPTEST_CASES=CASES, RUST_BACKTRACE="0", MUTANTS_MILLISECONDS=str(int(seconds * 1000)), **variables)
    environment.pop("MUTANTS_RECORD" if "MUTANT" in variables else "MUTANT", None)
    limits = ["prlimit", f"--as={MEMORY}", "--stack=1000000000", "--core=0"]
    process = subprocess.Popen(
        limits + command, cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )
    # A test that sleeps uses no CPU time. `process.kill` would take the status that `wait4` returns below.
    timer = threading.Timer(20 + 20 * seconds, os.kill, (process.pid, signal.SIGKILL))
    timer.start()
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode == 0, output, usage.ru_utime + usage.ru_stime


class Test:
    def __init__(self, binary, folder, name):
        self.binary, self.folder, self.name = binary, folder, name
        self.seconds, self.reached = 0.0, frozenset()

    def is_property(self):
        return self.folder.endswith("/proptests")

    def slowest(self):
        return SLOWEST_PROPERTY if self.is_property() else SLOWEST

    def shown(self):
        folder = pathlib.Path(self.folder).name
        return self.name if folder == "tree" else f"{folder}::{self.name}"

    def record(self):
        """Runs the test on the original. Returns whether it passed in time; its functions are then in `reached`."""
        with tempfile.NamedTemporaryFile() as record:
            command = [self.binary, "--exact", self.name, "--test-threads=1"]
            passed, output, self.seconds = limited(command, self.folder, 1.5 * SLOWEST_PROPERTY, MUTANTS_RECORD=record.name)
            self.reached = frozenset(int(line) for line in pathlib.Path(record.name).read_text().split())
        return passed and " 1 passed" in output


def all_tests(binaries):
    for binary, folder in binaries.items():
        listed = subprocess.run(
            [binary, "--list", "--format=terse"], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        for line in listed.splitlines():
            name, _, kind = line.rpartition(": ")
            if kind == "test":
                yield Test(binary, folder, name)


def recorded(binaries, jobs):
    """The tests that pass in time on the original, with the functions that they reach."""
    tests = list(all_tests(binaries))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        passed = list(pool.map(Test.record, tests))
    for test, ok in zip(tests, passed):
        if not ok or test.seconds > test.slowest():
            print(f"left out: {test.name}: {'slow' if ok else 'fails'}, {test.seconds:.1f} s", flush=True)
    return [test for test, ok in zip(tests, passed) if ok and test.seconds <= test.slowest()]


class Catches:
    """The number of mutants of each function and file that a test has caught, to find the tests to run first."""

    def __init__(self):
        self.of = collections.defaultdict(collections.Counter)

    def add(self, mutant, test):
        self.of[mutant.first][test] += 1
        self.of[mutant.file][test] += 1

    def proven(self, mutant, tests):
        """Up to `PROVEN` tests that caught mutants of the file. Those that caught most of the function come first."""
        function, file = self.of[mutant.first], self.of[mutant.file]
        found = [test for test in tests if test in file]
        return sorted(found, key=lambda test: (-function[test], -file[test]))[:PROVEN]


def waves(tests, sizes):
    at = 0
    for size in sizes:
        if tests[at : at + size]:
            yield tests[at : at + size]
        at += size


def failed(wave, mutants):
    """Runs tests on some mutants. Returns the first that failed or did not end, or None if all passed."""
    for binary in dict.fromkeys(test.binary for test in wave):
        chosen = {test.name: test for test in wave if test.binary == binary}
        command = [binary, "--exact", "--test-threads=1", "-Zunstable-options", "--fail-fast", *chosen]
        seconds = 0.4 + 2 * sum(test.seconds for test in chosen.values())
        # `selected.rs` searches the numbers, so they must be in ascending order.
        numbers = " ".join(map(str, sorted(mutant.number for mutant in mutants)))
        folder = next(iter(chosen.values())).folder
        passed, output, _ = limited(command, folder, seconds, MUTANT=numbers)
        if not passed:
            # The last test failed, or was running when the process ended.
            started = [line.split()[1] for line in output.splitlines() if line.startswith("test ")]
            return next((chosen[name] for name in reversed(started) if name in chosen), next(iter(chosen.values())))
    return None


def judge(mutant, tests, catches):
    """The first test that catches the mutant, among the tests that examine the mutant most closely, or None."""
    for wave in waves(order(tests, catches.proven(mutant, tests)), WAVES):
        found = failed(wave, [mutant])
        if found:
            catches.add(mutant, found)
            return found
    return None


def order(tests, proven):
    """The proven tests first, then fast tests that reach few functions, because such tests examine a mutant closely."""
    return sorted(tests, key=lambda test: (test not in proven, test.is_property(), len(test.reached) * test.seconds))


def groups(mutants):
    """Groups of mutants of different functions."""
    found = []
    for mutant in mutants:
        group = next((one for one in found if len(one) < GROUP and mutant.first not in one), None)
        if group is None:
            found.append(group := {})
        group[mutant.first] = mutant
    return [list(group.values()) for group in found]


def judge_group(mutants, tests):
    """All tests on several mutants at once. Returns those that are caught, with the tests."""
    caught, left = {}, list(mutants)
    # The property tests first, because the mutants have passed the closest other tests.
    tests = sorted(tests, key=lambda test: (not test.is_property(), len(test.reached) * test.seconds))
    tests = [test for test in tests if any(mutant.first in test.reached for mutant in left)]
    while left and tests:
        found = failed(tests[:CHUNK], left)
        if not found:
            tests = tests[CHUNK:]
            continue
        reached = [mutant for mutant in left if mutant.first in found.reached]
        guilty = [mutant for mutant in reached if failed([found], [mutant])]
        caught.update((mutant, found) for mutant in guilty)
        left = [mutant for mutant in left if mutant not in guilty]
        if not guilty:
            # Each mutant alone passes the test, which fails only with several mutants together.
            tests.remove(found)
        tests = [test for test in tests if any(mutant.first in test.reached for mutant in left)]
    return caught


def judge_all(mutants, tests, jobs, results, path):
    """Adds the verdicts for all mutants to `results`, and stores them in `path` now and then."""
    reaching, catches = collections.defaultdict(list), Catches()
    for test in tests:
        for first in test.reached:
            reaching[first].append(test)
    print(f"{len(mutants)} mutants of {len({mutant.first for mutant in mutants})} functions, {len(tests)} tests", flush=True)
    began, done, open_ = time.monotonic(), 0, []

    def add(mutant, verdict, test=""):
        nonlocal done
        done += 1
        results[mutant.key] = {"verdict": verdict, "test": test}
        if verdict == "missed":
            print(f"missed: {mutant.key}", flush=True)
        if done % 50 == 0 or done == len(mutants):
            print(f"{done} of {len(mutants)} after {time.monotonic() - began:.0f} s", flush=True)
            path.write_text(json.dumps(results, indent=1, sort_keys=True))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(judge, mutant, reaching[mutant.first], catches): mutant for mutant in mutants}
        for future in concurrent.futures.as_completed(waiting):
            mutant, test = waiting[future], future.result()
            if test:
                add(mutant, "caught", test.shown())
            elif not reaching[mutant.first]:
                add(mutant, "constant" if mutant.is_constant else "unreached")
            elif len(reaching[mutant.first]) <= sum(WAVES):
                add(mutant, "missed")
            else:
                open_.append(mutant)
        together = groups(open_)
        print(f"{len(open_)} mutants run with all tests, in {len(together)} groups", flush=True)
        waiting = {pool.submit(judge_group, group, tests): group for group in together}
        for future in concurrent.futures.as_completed(waiting):
            caught = future.result()
            for mutant in waiting[future]:
                add(mutant, *("caught", caught[mutant].shown()) if mutant in caught else ("missed",))
