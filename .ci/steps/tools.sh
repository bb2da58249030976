# Installs the tools and toolchains that steps need.
# shellcheck shell=bash

tools=$PWD/.ci/.work/tools
mkdir -p "$tools"

# exclusively COMMAND...: runs a command that installs something, while no other step installs anything.
exclusively() { (flock 9 && say "$@") 9>"$tools/.lock"; }

# alone NAME: waits for the end of a step that has called `alone` with the same name. Two steps at the same time would
# replace each other's programs.
alone() {
    exec 8>"$tools/$1.lock"
    flock 8
}

# packages NAME...: installs packages of the system.
packages() {
    exclusively apt-get update --quiet && exclusively apt-get install --quiet --yes --no-install-recommends "$@"
}

# target NAME: installs a target of the compiler.
target() {
    need rustup
    rustup target list --installed | grep -qx "$1" || exclusively rustup target add "$1" ||
        not_run "the target $1 cannot be installed"
}

# cargo_tool NAME VERSION: installs a Rust tool from source. Builds without optimization, which takes a fifth of the time;
# the tools are fast enough.
cargo_tool() {
    export PATH=$tools/bin:$PATH
    command -v "$1" >/dev/null && return
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$tools/target \
        say cargo install --quiet --locked --debug --root "$tools" --version "$2" "$1" || not_run "$1 cannot be installed"
}

# wheel NAME VERSION COMMAND: sets `wheel` to the path of a program that a Python package contains.
wheel() {
    local folder=$tools/$1-$2
    wheel=$folder/bin/$3
    [[ -x $wheel ]] && return
    need python3
    say python3 -m pip install --quiet --target "$folder" "$1==$2" || not_run "$1 cannot be installed"
}

# cargo_wheel NAME VERSION: installs a subcommand of cargo from a Python package of Astral, which packs the program for
# all common platforms. A build from source takes up to 75 s; it is for platforms without a package.
cargo_wheel() {
    # A subshell, because `wheel` ends the step if it fails.
    if (wheel "astral-dev-toolchain-$1" "$2" "$1"); then
        export PATH=$tools/astral-dev-toolchain-$1-$2/bin:$PATH
    else
        cargo_tool "$1" "$2"
    fi
}

# toolchain NAME COMPONENT...: installs a Rust toolchain with these components.
toolchain() {
    need rustup
    local name=$1 component missing=()
    shift
    rustup run "$name" true 2>/dev/null || exclusively rustup toolchain install "$name" --profile minimal ||
        not_run "the toolchain $name cannot be installed"
    for component in "$@"; do
        rustup component list --toolchain "$name" --installed | grep -q "^$component" || missing+=("$component")
    done
    ((${#missing[@]} == 0)) || exclusively rustup component add --toolchain "$name" "${missing[@]}" ||
        not_run "${missing[*]} cannot be installed"
}

# Builds all programs and examples. `cargo test --workspace` has built the same programs with the features of the whole
# workspace. A build of a single package would have other features, and build its dependencies again.
build_programs() { say cargo build --quiet --workspace --bins --examples; }
