# shellcheck shell=bash
# Steps that try to show the tests wrong, or the code: interpreters, random input, measures of the tests.

# Breaks the rooms that .cargo/mutants.toml names in every small way, and asks their own tests whether they see it: here, and what
# is not seen then, in the ways that bare metal takes.
step_mutants() {
    local target tree way iterate=() code
    cargo_tool cargo-mutants 27.1.0
    target=$(target_directory)/mutants
    tree=$target/rooms
    rm -rf "$tree" "$target/mutants.out"
    mkdir -p "$tree" "$target/tmp"
    # A crate of its own, without adapters and examples, takes seconds to build instead of a minute.
    cp -r src ARCHITECTURE.md Cargo.lock .ci/mutants/Cargo.toml "$tree"
    cp .ci/mutants/lib.rs "$tree/src/lib.rs"
    for way in fast small words; do
        code=0
        # It makes copies, and builds inside them.
        say env -u CARGO_TARGET_DIR TMPDIR="$target/tmp" RUSTFLAGS="${RUSTFLAGS:-} --cfg mcp_proto_$way" \
            cargo mutants --dir "$tree" --config .cargo/mutants.toml --output "$target" "${iterate[@]}" \
            --jobs "${MUTANTS_JOBS:-2}" --colors never --no-times \
            --cargo-arg=--config="target.'cfg(all())'.runner=['$PWD/.ci/mutants/limited']" || code=$?
        # 2: some live. 3: some were seen because their tests did not end in time, which is as good.
        ((code == 0 || code == 2 || code == 3))
        iterate=(--iterate)
    done
    wc -l "$target/mutants.out/missed.txt"
    [[ ! -s $target/mutants.out/missed.txt ]]
}

# The rooms whose tests an interpreter gets through in a minute or two, but for the tests that go through very much, or that never
# give back what they lend: those stay with `cargo test`.
miri_rooms=(client:: platform:: frame:: inflight:: json::decimal json::path json::scanner json::search json::ser json::string json::write_text)
miri_skips=(
    backslash_is_found names_with_member_prefix index_equals_a_walk
    common_messages hundred_thousand a_request_costs_about run_ends_at an_id_is_its_digits
    wrong_bracket_is_found depth_is_bounded adjacent_escapes every_byte_is_classified ids_and_deadlines ids_that_collide in_any_room
    text_is_found_however more_slots_and_text no_harm order_is_that_of random_strings spans_are_kept texts_stay the_hash_does_not the_seed_decides values_look_as
    skipping_does_not_recurse what_nobody_uses tokens_of_every_length text_cut_anywhere nested_text
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
    local cover others=({documents,event_loop,examples,memory,serial_bridge}::)
    cover=(cargo "+$nightly" llvm-cov)
    say "${cover[@]}" clean --workspace --profraw-only
    say "${cover[@]}" test --quiet --branch --no-report -p mcp-proto --lib
    say "${cover[@]}" test --quiet --branch --no-report -p mcp-proto --test it -- "${others[@]/#/--skip=}"
    # Properties reach in few cases what they reach in many.
    PROPTEST_CASES=30 say "${cover[@]}" test --quiet --branch --no-report -p mcp-proto-proptests
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
    # The same every time: what chance finds belongs to those who look for it, not to whoever changes something else.
    seed=1 nightly=$nightly say fuzz/run --note=no 15s
}
