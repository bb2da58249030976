# Steps for mutation testing, Miri, coverage and fuzzing.
# shellcheck shell=bash

# Mutates the core and the embedded adapter. Fails if 1 % of the mutants or more survive all tests without a reason in
# docs/mutants.md. `MUTANTS` selects a part, such as `src/server`, `missed` or `new`.
step_mutants() {
    need python3 prlimit
    cargo_tool cargo-mutants 27.1.0
    # shellcheck disable=SC2086  # several words
    say nice -n 10 .ci/mutants/run.py "$(target_directory)/mutants" ${MUTANTS:-}
}

# Modules whose tests finish in Miri within two minutes. The skipped tests take too long there; `cargo test` runs them.
miri_modules=(
    client:: platform:: framing::outbound_message peer::slots json::decimal json::scanner json::search json::ser
    json::string json::write_text
)
miri_skips=(
    # scanner, search, strings
    backslash_is_found names_like_members index_equals_a_walk common_messages hundred_thousand run_ends_at
    wrong_bracket_is_found depth_is_bounded adjacent_ borrow_between_bytes every_byte_is_classified order_is_numeric
    unscanned_text skipping_does_not_recurse tokens_of_every_length text_cut_anywhere nested_text
    first_position_of_byte equality_ignores_escapes long_text_is_encoded text_is_found_in_any_member_order
    depth_limit_is_exact values_equal known_object_does_not repetition_may_differ
    short_text_is_copied
    # slots and kernels
    cost_of_a_request random_operations_agree next_slot_and_deadline slots_and_text_over_16_bits
    ids_that_collide string_id_is_found hash_equals hash_is_independent seed_determines find_returns_the_first
    growth_of_slots_and_shares grown_table_allocates divisions_return
)

# Tests of the core in Miri, which detects undefined behavior and leaks, also in dependencies. Miri simulates the clock,
# so the tests do not depend on the machine's.
step_miri() {
    toolchain "$nightly" miri rust-src
    local skip
    for skip in "${miri_skips[@]}"; do
        # A renamed test would run for hours.
        grep -rq "fn [a-z0-9_]*$skip" src || { echo "no test of src has '$skip' in its name: see miri_skips"; exit 1; }
    done
    say cargo "+$nightly" miri test --quiet -p mcp-proto --lib -- "${miri_modules[@]}" "${miri_skips[@]/#/--skip=}"
    # The adapter for C has all unsafe code of the libraries. A program in C never frees the memory that it lends, so
    # ignore leaks.
    MIRIFLAGS=-Zmiri-ignore-leaks say cargo "+$nightly" miri test --quiet -p mcp-proto-c --lib
}

# Test coverage of the core, which must not decrease. `.ci/covered` selects the tests. One command builds all tests, so
# that the core is built once.
step_coverage() {
    need python3
    toolchain "$nightly" llvm-tools
    cargo_wheel cargo-llvm-cov 0.9.1
    local cover
    cover=(cargo "+$nightly" llvm-cov)
    say "${cover[@]}" clean --workspace --profraw-only
    say env "$(runner)=$PWD/.ci/covered" "${cover[@]}" test --quiet --branch --no-report -p mcp-proto -p mcp-proto-tests -p mcp-proto-std \
        -p mcp-proto-proptests --features mcp-proto-std/schemars --lib --test it
    say "${cover[@]}" report --branch --json --summary-only --output-path "$(target_directory)/coverage.json"
    say .ci/coverage "$(target_directory)/coverage.json" ${BLESS:+--write}
}

# Runs every fuzz target with 12,000 inputs, starting from the stored corpus. The step detects targets that do not
# build, and inputs that fail at once. Long fuzzing sessions are described in docs/fuzzing.md.
step_fuzz() {
    need tar xz
    toolchain "$nightly"
    cargo_wheel cargo-fuzz 0.13.2
    (cd fuzz && say cargo fmt --check)
    # The same inputs in every run, so that no unrelated change fails because of an older bug.
    CARGO_PROFILE_RELEASE_DEBUG=0 jobs=$(nproc) nightly=$nightly say fuzz/run --note=no 12000x
}
