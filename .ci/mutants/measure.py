"""Runs the tests that reach a mutant, until one fails."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

# A test that takes more CPU time, in seconds, is left out, because it would run for each mutant it reaches.
SLOWEST = 2.0
# Tests run in waves of these sizes, because each process that starts costs time.
WAVES = (6, 40)
MEMORY = 4_000_000_000


def limited(command, folder, seconds, **variables):
    """Runs tests with limits on time and memory. Returns whether they passed, what they wrote, and their CPU time."""
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1", CARGO_MANIFEST_DIR=folder, PROPTEST_RNG_SEED="1",
                       PROPTEST_CASES="30", RUST_BACKTRACE="0", **variables)
    environment.pop("MUTANTS_RECORD" if "MUTANT" in variables else "MUTANT", None)
    limits = ["prlimit", f"--cpu={int(seconds) + 3}", f"--as={MEMORY}", "--stack=1000000000", "--core=0"]
    process = subprocess.Popen(
        limits + command, cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )
    # A test that sleeps uses no CPU time.
    timer = threading.Timer(30 + 20 * seconds, process.kill)
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

    def record(self):
        """Runs the test on the original. Returns whether it passed in time; its functions are then in `reached`."""
        with tempfile.NamedTemporaryFile() as record:
            command = [self.binary, "--exact", self.name, "--test-threads=1"]
            passed, output, self.seconds = limited(command, self.folder, 15, MUTANTS_RECORD=record.name)
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
        if not ok or test.seconds > SLOWEST:
            print(f"left out: {test.name}: {'slow' if ok else 'fails'}, {test.seconds:.1f} s", flush=True)
    return [test for test, ok in zip(tests, passed) if ok and test.seconds <= SLOWEST]


def waves(tests):
    """Groups of tests, first those that reach the fewest functions: they are fast and examine the mutant closely."""
    tests = sorted(tests, key=lambda test: (len(test.reached), test.seconds))
    at = 0
    for size in (*WAVES, len(tests)):
        if tests[at : at + size]:
            yield tests[at : at + size]
        at += size


def judge(mutant, tests):
    """The verdict for a mutant, with the test that caught it."""
    if not tests:
        return "unreached", ""
    for wave in waves(tests):
        for binary in dict.fromkeys(test.binary for test in wave):
            chosen = [test for test in wave if test.binary == binary]
            command = [binary, "--exact", "--test-threads=1", "-Zunstable-options", "--fail-fast"]
            command += [test.name for test in chosen]
            seconds = 3 * sum(test.seconds for test in chosen)
            passed, output, _ = limited(command, chosen[0].folder, seconds, MUTANT=str(mutant.number))
            if not passed:
                failed = [line.split()[1] for line in output.splitlines()
                          if line.startswith("test ") and line.endswith("FAILED")]
                return "caught", failed[0] if failed else "limit"
    return "missed", ""


def judge_all(mutants, tests, jobs, results, path):
    """Adds the verdicts for all mutants to `results`, and stores them in `path` now and then."""
    reaching = {}
    firsts = sorted({mutant.first for mutant in mutants})
    for test in tests:
        for first in test.reached:
            reaching.setdefault(first, []).append(test)
    print(f"{len(mutants)} mutants of {len(firsts)} functions, {len(tests)} tests", flush=True)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        verdicts = pool.map(lambda mutant: judge(mutant, reaching.get(mutant.first, [])), mutants)
        for done, (mutant, (verdict, test)) in enumerate(zip(mutants, verdicts), 1):
            results[mutant.key] = {"verdict": verdict, "test": test}
            if verdict == "missed":
                print(f"missed: {mutant.key}", flush=True)
            if done % 50 == 0 or done == len(mutants):
                print(f"{done} of {len(mutants)} after {time.monotonic() - began:.0f} s", flush=True)
                path.write_text(json.dumps(results, indent=1, sort_keys=True))
