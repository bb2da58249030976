# shellcheck shell=bash
# Steps that look at the code with the tools of Rust.

# What the core is looked at with: every set of features that changes what is compiled.
core_features=(
    "--no-default-features"
    "--no-default-features --features serde"
    "--no-default-features --features alloc"
    "--no-default-features --features alloc,serde"
    "--no-default-features --features std"
    "--all-features"
)
bare_targets=(thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imc-unknown-none-elf)
# The core runs in browsers, too.
core_targets=("${bare_targets[@]}" wasm32-unknown-unknown)

step_test() {
    # The line that README.md promises is the line that is run.
    grep -qF 'cargo test --workspace' README.md || { echo "README.md does not name 'cargo test --workspace'"; exit 1; }
    say cargo test --workspace
}

# The ways that bare metal takes, here.
step_small() {
    for way in small words; do
        RUSTFLAGS="${RUSTFLAGS:-} --cfg mcp_proto_$way" say cargo test --quiet -p mcp-proto --lib --test server --test arguments
        # JSON against serde_json: these ways read and write it otherwise.
        RUSTFLAGS="${RUSTFLAGS:-} --cfg mcp_proto_$way" say cargo test --quiet -p mcp-proto-proptests --test json --test bridge --test writer
    done
}

step_fmt() { say cargo fmt --all --check; }

step_clippy() {
    local features
    for features in "${core_features[@]}"; do
        # Tests bring features with them, so the library is also looked at alone.
        # shellcheck disable=SC2086  # a set of features is several words
        say cargo clippy --quiet -p mcp-proto --lib $features -- -D warnings
        # shellcheck disable=SC2086
        say cargo clippy --quiet -p mcp-proto --all-targets $features -- -D warnings
    done
    say cargo clippy --quiet -p mcp-proto-embedded --all-targets --features log,defmt,heapless -- -D warnings
    say cargo clippy --quiet --workspace --all-targets -- -D warnings
}

step_doc() { RUSTDOCFLAGS="-D warnings" say cargo doc --quiet --no-deps --workspace --all-features; }

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
    count_packages 12
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
