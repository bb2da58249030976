# shellcheck shell=bash
# Steps that try to show the tests wrong, or the code: interpreters, random input, measures of the tests.

# Breaks the rooms that .cargo/mutants.toml names in every small way, and asks their own tests whether they see it.
step_mutants() {
    local target tree code=0
    need cargo-mutants
    target=$(target_directory)/mutants
    tree=$target/rooms
    rm -rf "$tree" "$target/mutants.out"
    mkdir -p "$tree" "$target/tmp"
    # A crate of its own, without adapters and examples, takes seconds to build instead of a minute.
    cp -r src ARCHITECTURE.md Cargo.lock .ci/mutants/Cargo.toml "$tree"
    cp .ci/mutants/lib.rs "$tree/src/lib.rs"
    # It makes copies, and builds inside them.
    say env -u CARGO_TARGET_DIR TMPDIR="$target/tmp" cargo mutants --dir "$tree" --config .cargo/mutants.toml --output "$target" \
        --jobs "${MUTANTS_JOBS:-2}" --colors never --no-times \
        --cargo-arg=--config="target.'cfg(all())'.runner=['$PWD/.ci/mutants/limited']" || code=$?
    wc -l "$target"/mutants.out/{caught,timeout,unviable,missed}.txt
    # 3: some were seen because their tests did not end in time. That is as good.
    ((code == 0 || code == 3))
}
