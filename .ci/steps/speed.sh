# The step that checks instruction counts.
# shellcheck shell=bash

# Instruction counts, not times, because machine load does not change them. benches/run compares times with other libraries.
step_speed() {
    need python3
    command -v valgrind >/dev/null ||
        packages valgrind libc6-dbg || not_run "valgrind cannot be installed"
    (cd benches && say cargo fmt --all --check)
    say benches/guard
    say benches/growth
}
