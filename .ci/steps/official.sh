# shellcheck shell=bash
# Steps that hold the project against what others made: the official schemas, clients, servers and suites.

step_json_suite() {
    [[ -d $JSON_SUITE_DIR ]] || not_run "no folder $JSON_SUITE_DIR (JSON_SUITE_DIR)"
    say cargo test -p mcp-proto-proptests --test json_suite
}

step_schema() {
    [[ -d $MCP_SPEC_DIR/schema ]] || not_run "no folder $MCP_SPEC_DIR/schema (MCP_SPEC_DIR)"
    say cargo test -p mcp-proto-proptests --test schema --test methods --test examples --test every_method \
        --test emitted --test features --test inputs --test asked --test client_emitted --test dialogues
}

step_interop() {
    need python3 node npm column git
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || not_run "Python is older than 3.11"
    node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' || not_run "Node is older than 20"
    local example
    for example in stdio_server everything_server inspect; do
        [[ -e examples/$example.rs || -e examples/$example/main.rs ]] || not_run "there is no example $example"
    done
    say cargo build --quiet --example stdio_server --example everything_server --example inspect
    example=$(cargo metadata --format-version 1 --no-deps | node -p 'JSON.parse(fs.readFileSync(0)).target_directory')/debug/examples
    say .ci/interop/run "$example/stdio_server" "$example/everything_server" "$example/inspect"
}

# The suite brings a Node of its own that is new enough, where there is one for the machine.
step_conformance() {
    need node npm
    local example=everything_server
    [[ -e examples/$example.rs || -e examples/$example/main.rs ]] || not_run "there is no example $example"
    say cargo build --quiet --example "$example"
    example=$(cargo metadata --format-version 1 --no-deps | node -p 'JSON.parse(fs.readFileSync(0)).target_directory')/debug/examples/$example
    say .ci/interop/conformance "$example"
}
