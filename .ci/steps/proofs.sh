# shellcheck shell=bash
# Steps that try to show the tests wrong, or the code: interpreters, random input, measures of the tests.

step_mutants() { not_run "there is no such step yet"; }

# The rooms whose tests an interpreter gets through in a minute or two, but for the tests that go through very much: those stay
# with `cargo test`.
miri_rooms=(client:: divide:: frame:: inflight:: json::decimal json::encode json::path json::pieces json::scan json::swar json::text)
miri_skips=(
    a_hundred_thousand a_request_costs_about a_run_ends_at brackets_are_remembered depth_is_bounded every_byte_alone
    ids_and_deadlines no_harm order_is_that_of random_strings the_seed_decides values_look_as walking_does_not_recurse
)

# The tests of the core in an interpreter that sees undefined behaviour and leaks, of dependencies too. It has no clock but its
# own, so tests do not depend on this machine's.
step_miri() {
    toolchain "$nightly" miri rust-src
    say cargo "+$nightly" miri test --quiet -p mcp-proto --lib -- "${miri_rooms[@]}" "${miri_skips[@]/#/--skip=}"
}

# How much of the core its tests reach, and that it does not become less. Tests of examples and of time do not count.
step_coverage() {
    need python3
    toolchain "$nightly" llvm-tools
    cargo_tool cargo-llvm-cov 0.9.1
    local file name core=() cover
    for file in tests/*.rs tests/*/main.rs; do
        name=${file#tests/} name=${name%/main.rs} name=${name%.rs}
        [[ " examples bridge loop_example documents memory " == *" $name "* ]] || core+=(--test "$name")
    done
    cover=(cargo "+$nightly" llvm-cov)
    say "${cover[@]}" clean --workspace --profraw-only
    say "${cover[@]}" test --quiet --branch --no-report -p mcp-proto --lib "${core[@]}"
    say "${cover[@]}" test --quiet --branch --no-report -p mcp-proto-proptests
    say "${cover[@]}" report --branch --json --summary-only --output-path "$(target_directory)/coverage.json"
    say .ci/coverage "$(target_directory)/coverage.json" ${BLESS:+--write}
}

# Every fuzz target for some seconds, from the inputs that are kept: a target that does not build, or finds something at
# once, is seen with every change. The hours of fuzzing are in docs/fuzzing.md.
step_fuzz() {
    need tar xz
    toolchain "$nightly"
    cargo_tool cargo-fuzz 0.13.2
    (cd fuzz && say cargo fmt --check)
    nightly=$nightly say fuzz/run --note=no 15s
}
