# shellcheck shell=bash
# Steps that try to show the tests wrong, or the code: interpreters, random input, measures of the tests.

step_mutants() { not_run "there is no such step yet"; }

# A nightly compiler and cargo-fuzz, or why they are not there.
need_fuzzer() {
    need rustup cargo tar xz
    rustup run "$nightly" rustc -V >/dev/null 2>&1 || say rustup toolchain install --profile minimal "$nightly" ||
        not_run "the compiler $nightly cannot be installed"
    command -v cargo-fuzz >/dev/null || say cargo install --quiet --locked --version 0.13.2 cargo-fuzz ||
        not_run "cargo-fuzz cannot be installed"
}

# Every fuzz target for some seconds, from the inputs that are kept: a target that does not build, or finds something at
# once, is seen with every change. The hours of fuzzing are in docs/fuzzing.md.
step_fuzz() {
    need_fuzzer
    nightly=$nightly say fuzz/run --note=no 15s
}
