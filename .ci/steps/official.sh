# Steps that check against official schemas, clients, servers and test suites.
# shellcheck shell=bash

step_json_suite() {
    [[ -d $JSON_SUITE_DIR ]] || not_run "no folder $JSON_SUITE_DIR (JSON_SUITE_DIR)"
    property_tests json_suite::
}

step_schema() {
    [[ -d $MCP_SPEC_DIR/schema ]] || not_run "no folder $MCP_SPEC_DIR/schema (MCP_SPEC_DIR)"
    property_tests schema:: methods:: official_examples:: every_method:: emitted:: features:: inputs:: client_requests:: \
        client_emitted:: transcripts::
}

# property_tests FILTER...: runs tests of `proptests`. `cargo test --workspace` has built the same program, because it is
# built with the same features.
property_tests() {
    local program
    program=$(cargo test --quiet --workspace --test it --no-run --message-format json-render-diagnostics |
        sed -n 's/.*#mcp-proto-proptests@.*"executable":"\([^"]*\)".*/\1/p')
    (cd proptests && say "$program" "$@")
}

step_interop() {
    need python3 node npm git
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || not_run "Python is older than 3.11"
    node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' || not_run "Node is older than 20"
    local target
    target=$(target_directory)
    build_programs
    say .ci/interop/run "$target"/debug/{examples/{stdio_server,everything_server},mcp-inspect,examples/{http_client,bridge}} \
        "$target/interop-rmcp"
    # The step has built the program on rmcp.
    say .ci/interop/six_servers "$target"/{debug/examples/six_servers,interop-rmcp/debug/rmcp_six_servers}
}

# The suite installs its own recent Node if a package for this platform exists.
step_conformance() {
    need node npm
    build_programs
    say .ci/interop/conformance "$(target_directory)"/debug/{examples/everything_server,mcp-inspect}
}
