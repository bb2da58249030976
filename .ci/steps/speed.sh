# The step that checks instruction counts, and the cost of HTTP.
# shellcheck shell=bash

# Instruction counts, not times, because machine load does not change them. benches/run compares times with other libraries.
step_speed() {
    need python3
    command -v valgrind >/dev/null ||
        { say apt-get update --quiet && say apt-get install --quiet --yes --no-install-recommends valgrind libc6-dbg; } ||
        not_run "valgrind cannot be installed"
    (cd benches && say cargo fmt --all --check)
    say benches/guard
    # A ratio of the shortest of many times, so machine load changes it little.
    say cargo test --quiet --release -p mcp-proto-http --test it post_costs_a_small_multiple_of_a_line -- --nocapture
}
