# shellcheck shell=bash
# Steps about how fast it is.

# Instructions, not times: they are the same on a machine that is busy. benches/run measures the rest, beside others.
step_speed() {
    need python3
    command -v valgrind >/dev/null ||
        { say apt-get update --quiet && say apt-get install --quiet --yes --no-install-recommends valgrind libc6-dbg; } ||
        not_run "valgrind cannot be installed"
    (cd benches && say cargo fmt --all --check)
    say benches/guard
}
