# Runs our client against each server, and the inspector against our server.
# Sourced by `run`, which sets the paths used here. A run prints its errors and a line that starts with RESULT.
# shellcheck shell=bash

# Runs a program once and checks it: `check_run WHO WHAT COLUMN EXIT WORD PROGRAM...`. EXIT is ok or fails; WORD must be in the output.
check_run() {
    local who=$1 what=$2 column=$3 wanted=$4 word=$5 output code=0 verdict=ok
    shift 5
    output=$(timeout "$PATIENCE" "$@" 2>&1) || code=$?
    if [[ $wanted == fails ]]; then
        if ((code == 0 || code == 124)); then verdict=FAILED; fi
    elif ((code != 0)); then
        verdict=FAILED
    fi
    if [[ $output != *"$word"* ]]; then verdict=FAILED; fi
    if [[ $verdict == FAILED ]]; then
        printf 'FAILED %s\n  exit code %d, wanted: %s, with %s; output:\n%s\n' \
            "$*" "$code" "$wanted" "$word" "$(tail -n 20 <<<"$output")"
    fi
    echo "RESULT $who, $what | $column | $verdict"
}

# Runs our client against a server, in an era or a revision: `run_client SERVER WHAT COLUMN EXIT WORD ARGUMENT...`.
run_client() {
    local which=--era
    if [[ $3 == 20* ]]; then which=--revision; fi
    check_run "our client, $1" "$2" "$3" "$4" "$5" "$inspect" $which "$3" --timeout "$PATIENCE" "${@:6}"
}

run_everything() {
    run_everything_at server-everything node "$modules/@modelcontextprotocol/server-everything/dist/index.js"
}

run_everything_over_http() {
    local port
    port=$(free_port)
    PORT=$port node "$modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp >/dev/null 2>&1 &
    wait_for_port "$port"
    run_everything_at "server-everything over HTTP" "http://127.0.0.1:$port/mcp"
}

# Runs our client against servers of the official SDKs for Python and TypeScript at a URL, in their eras.
run_sdks_over_http() {
    local python version eras
    for python in "$sdk1/bin/python" "$sdk2/bin/python"; do
        version=$(version_of_sdk "$python")
        eras=(legacy auto modern)
        if [[ $version == 1.* ]]; then eras=(legacy auto); fi
        served_at "$python" "$here/python_server.py" PORT
        run_sdk_at "python mcp $version over HTTP" "${eras[@]}"
    done
    served_at node "$node/typescript_server.mjs" PORT
    version=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).version' "$modules/@modelcontextprotocol/server/package.json")
    run_sdk_at "typescript server $version over HTTP" legacy auto modern
}

# Runs our client against the small server at `url`: `run_sdk_at NAME ERA...`.
run_sdk_at() {
    local era name=$1
    for era in "${@:2}"; do
        run_client "$name" "a tool" $era ok 'structured: {"result":42}' --call add --args '{"a":2,"b":40}' "$url"
        run_client "$name" "progress" $era ok 'progress 3 of 3' --call count --args '{"to":3}' "$url"
        run_client "$name" "resources" $era ok 'a small page' --read file:///page "$url"
        run_client "$name" "no such server" $era fails 'status 404' "${url%/mcp}/nothing"
    done
    on_tokio() { check_run "our client, $name" "$1, on tokio" auto "${@:2}"; }
    on_tokio "a tool" ok 42 "$http_client" "$url" add '{"a":2,"b":40}'
    on_tokio "progress" ok 'progress 3' "$http_client" "$url" count '{"to":3}'
    on_tokio "no such server" fails 'status 404' "$http_client" "${url%/mcp}/nothing"
}

# Prints the version of the official SDK that a Python interpreter has.
version_of_sdk() { "$1" -c 'from importlib.metadata import version; print(version("mcp"))'; }

# Runs official clients against official servers through the example bridge, in both directions.
run_url_bridge() {
    local python other port version demo=(node "$modules/@modelcontextprotocol/server-everything/dist/index.js")
    local to_url='stdio to a URL' to_stdio='a URL to stdio'
    for python in "$sdk1/bin/python" "$sdk2/bin/python"; do
        version=$(version_of_sdk "$python")
        served_at "$python" "$here/python_server.py" PORT
        for other in "$sdk1/bin/python" "$sdk2/bin/python"; do
            drive "$other" "$here/url_bridge_client.py" "$to_url" "$version" "$bridge" "$url"
        done
        served_at "$bridge" --http 127.0.0.1:PORT -- "$python" "$here/python_server.py"
        for other in "$sdk1/bin/python" "$sdk2/bin/python"; do
            drive "$other" "$here/url_bridge_client.py" "$to_stdio" "$version" "$url"
        done
    done
    port=$(free_port)
    PORT=$port "${demo[@]}" streamableHttp >/dev/null 2>&1 &
    wait_for_port "$port"
    inspect_bridge "$to_url" "$bridge" "http://127.0.0.1:$port/mcp"
    served_at "$bridge" --http 127.0.0.1:PORT -- "${demo[@]}"
    inspect_bridge "$to_stdio" "$url"
}

# Runs the inspector against server-everything through the bridge: `inspect_bridge DIRECTION TARGET...`.
inspect_bridge() {
    local who direction=$1 target=("${@:2}")
    who="bridge, $(name_of_inspector) with server-everything"
    bridged() { inspect_with "$who" "$1" "$direction" ok "$2" legacy "${target[@]}" "${@:3}"; }
    bridged "tools" '"name":"get-sum"' --method tools/list
    bridged "a call" 'is 42' --method tools/call --tool-name get-sum --tool-args-json '{"a":2,"b":40}'
    bridged "resources" 'text/markdown' \
        --method resources/read --uri demo://resource/static/document/features.md
}

# Starts a server at a free port. Sets `url`, and `log` to the file with its stderr. The word PORT in the command becomes
# the port.
served_at() {
    local port
    port=$(free_port)
    log=$scratch/stderr-$port
    "${@//PORT/$port}" >/dev/null 2>>"$log" &
    wait_for_port "$port"
    url=http://127.0.0.1:$port/mcp
}

# Prints a port that no program listens on.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Waits until a program listens on the port.
wait_for_port() {
    local tries
    for ((tries = 0; tries < 10 * PATIENCE; tries++)); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.1
    done
    echo "no program listens on port $1"
    return 1
}

# Runs our client against server-everything: `run_everything_at NAME COMMAND...`, or with a URL as the command.
run_everything_at() {
    local era name=$1 command=("${@:2}") refusal=-32601
    # Over HTTP the server refuses the request before the server checks the method.
    if [[ $2 == http://* ]]; then refusal=-32000; fi
    everything() { run_client "$name" "$1" "$era" "${@:2}" -- "${command[@]}"; }
    for era in legacy auto; do
        everything "list" ok get-sum
        everything "a tool" ok 'Echo: päivää 👋' --call echo --args '{"message":"päivää 👋"}'
        everything "arguments" ok 'is 42' --call get-sum --args '{"a":2,"b":40}'
        everything "no such tool" fails '' --call no-such-tool
        everything "prompts" ok 'weather in Oulu, FI' --prompt args-prompt --args '{"city":"Oulu","state":"FI"}'
        everything "completion" ok 'Engineering' --complete completable-prompt department E
        everything "resources" ok 'text/markdown' --read demo://resource/static/document/features.md
        everything "templates" ok 'Resource 7' --read demo://resource/dynamic/text/7
        everything "bytes" ok 'bytes]' --read demo://resource/dynamic/blob/7
        everything "image" ok 'image/png,' --call get-tiny-image
        everything "structured content" ok 'structured: {' --call get-structured-content --args '{"location":"New York"}'
        everything "progress" ok 'progress 3 of 3' \
            --call trigger-long-running-operation --args '{"duration":0.3,"steps":3}'
        # The server repeats its message every 5 seconds. The first message may come before the stream is open.
        everything "logging" ok 'server: ' --log-level debug --call toggle-simulated-logging --listen 6
        everything "subscriptions" ok 'notification: demo://resource/dynamic/text/7 has changed' \
            --subscribe demo://resource/dynamic/text/7 --call toggle-subscriber-updates --listen 6
        everything "elicitation" ok 'Name: Ada' --answer name=Ada --answer integer=7 --call trigger-elicitation-request
        everything "elicitation, declined" ok 'declined' --call trigger-elicitation-request
        everything "url elicitation" ok 'accept' --answer open=yes \
            --call trigger-url-elicitation --args '{"url":"https://example.com/"}'
        everything "url elicitation, as an error" fails '"url":"https://modelcontextprotocol.io"' \
            --call trigger-url-elicitation --args '{"url":"https://example.com/","errorPath":true}'
        everything "sampling" ok 'canned answer' --sample 'canned answer' \
            --call trigger-sampling-request --args '{"prompt":"hi"}'
        everything "roots" ok "file://$here" --roots "$here" --call get-roots-list
    done
    era=modern everything "another era is refused" fails "$refusal"
}

run_other_servers() {
    local era folder=$scratch/files address server page='a small page'
    local files=(node "$modules/@modelcontextprotocol/server-filesystem/dist/index.js")
    local memory=(env MEMORY_FILE_PATH="$scratch/memory.json" node "$modules/@modelcontextprotocol/server-memory/dist/index.js")
    local thinking=(node "$modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js")
    local time=("$servers/bin/mcp-server-time" --local-timezone UTC)
    local fetch=("$servers/bin/mcp-server-fetch" --ignore-robots-txt --allow-private-ips)
    mkdir -p "$folder"
    echo 'päivää' >"$folder/a.txt"
    git init --quiet --initial-branch=main "$scratch/repository"
    echo "<html><body><p>$page</p></body></html>" >"$folder/page.html"
    exec {server}< <(cd "$folder" && exec python3 -u -c '
import functools, http.server
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()' 2>/dev/null)
    local pid=$!
    read -r -u "$server" address
    for era in legacy auto; do
        # Remove the files that the servers created in the first era.
        rm -f "$folder/b.txt" "$scratch/memory.json"
        run_client server-filesystem "list" $era ok read_text_file -- "${files[@]}" "$folder"
        run_client server-filesystem "reads" $era ok 'päivää' \
            --call read_text_file --args "{\"path\":\"$folder/a.txt\"}" -- "${files[@]}" "$folder"
        run_client server-filesystem "writes, then reads" $era ok 'b\n' \
            --call write_file --args "{\"path\":\"$folder/b.txt\",\"content\":\"b\\n\"}" \
            --call read_text_file --args "{\"path\":\"$folder/b.txt\"}" -- "${files[@]}" "$folder"
        run_client server-filesystem "refuses what is outside" $era fails 'Access denied' \
            --call read_text_file --args '{"path":"/etc/passwd"}' -- "${files[@]}" "$folder"
        run_client server-filesystem "roots" $era ok 'from MCP roots: 1 valid' --roots "$folder" --listen 2 -- "${files[@]}"
        run_client server-memory "list" $era ok create_entities -- "${memory[@]}"
        run_client server-memory "remembers" $era ok '"observations":["likes engines"]' --call create_entities \
            --args '{"entities":[{"name":"Ada","entityType":"person","observations":["likes engines"]}]}' \
            --call search_nodes --args '{"query":"engines"}' -- "${memory[@]}"
        run_client server-sequential-thinking "two thoughts" $era ok '"thoughtHistoryLength":2' \
            --call sequentialthinking \
            --args '{"thought":"first","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}' \
            --call sequentialthinking \
            --args '{"thought":"second","nextThoughtNeeded":false,"thoughtNumber":2,"totalThoughts":2}' \
            -- "${thinking[@]}"
    done
    run_client server-filesystem "another era is refused" modern fails '-32601' -- "${files[@]}" "$folder"
    run_client server-memory "another era is refused" modern fails '-32601' -- "${memory[@]}"
    run_client server-sequential-thinking "another era is refused" modern fails '-32601' -- "${thinking[@]}"
    for era in legacy auto modern; do
        run_client mcp-server-time "list" $era ok convert_time -- "${time[@]}"
        run_client mcp-server-time "converts" $era ok 'T21:00:00+09:00' --call convert_time \
            --args '{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}' -- "${time[@]}"
        run_client mcp-server-time "refuses no time zone" $era fails 'Nowhere' --call get_current_time \
            --args '{"timezone":"Nowhere"}' -- "${time[@]}"
        run_client mcp-server-git "list" $era ok git_status -- "$servers/bin/mcp-server-git"
        run_client mcp-server-git "status" $era ok 'On branch main' --call git_status \
            --args "{\"repo_path\":\"$scratch/repository\"}" -- "$servers/bin/mcp-server-git"
        run_client mcp-server-fetch "tools" $era ok "$page" --call fetch \
            --args "{\"url\":\"http://127.0.0.1:$address/page.html\"}" -- "${fetch[@]}"
        run_client mcp-server-fetch "prompts" $era ok "$page" --prompt fetch \
            --args "{\"url\":\"http://127.0.0.1:$address/page.html\"}" -- "${fetch[@]}"
    done
    exec {server}<&-
    kill "$pid"
}

run_our_server() {
    local era
    ours() { run_client "our server" "$1" "$era" "${@:2}" -- "$everything"; }
    for era in legacy auto modern; do
        run_client "our server" "list" $era ok host_info -- "$server"
        run_client "our server" "a tool" $era ok 42 --call add --args '{"a":2,"b":40}' -- "$server"
        ours "prompts" ok "arg1='a', arg2='b'" --prompt test_prompt_with_arguments --args '{"arg1":"a","arg2":"b"}'
        ours "completion" ok 'paris, park, party' --complete test_prompt_with_arguments arg1 par
        ours "resources" ok 'the content of the static text resource' --read test://static-text
        ours "templates" ok 'Data for ID: 7' --read test://template/7/data
        ours "content" ok 'image/png,' --call show_content
        ours "progress" ok 'progress 2 of 2' --call test_tool_with_progress
        ours "cancel" fails 'slow was cancelled' --timeout 2 --call slow --args '{"seconds":60,"steps":1}'
        ours "logging" ok 'server: info' --log-level info --call test_logging_tool
        ours "subscriptions" ok 'notification: clock://ticks has changed' --subscribe clock://ticks --call tick --listen 0.5
        ours "list changes" ok 'notification: the list of prompts has changed' --listen 0.5 --call test_trigger_prompt_change
        ours "elicitation" ok '"username":"ada"' --answer username=ada --answer email=a@b.c \
            --call test_elicitation --args '{"message":"Who?"}'
        ours "elicitation, declined" ok 'action=decline' --call test_elicitation --args '{"message":"Who?"}'
        ours "url elicitation" ok 'action=accept' --answer open=yes --call ask_page
        ours "sampling" ok 'LLM response: canned' --sample canned --call ask_model
        ours "roots" ok "file://$here" --roots "$here" --call ask_roots
    done
    era=modern
    ours "two rounds" ok 'blue' --answer name=Ada --answer color=blue --call test_input_required_result_multi_round
    ours "three questions" ok 'canned, "Ada", in 1 roots' --answer name=Ada --sample canned \
        --roots "$here" --call test_input_required_result_multiple_inputs
    ours "a prompt that asks" ok 'messages of the prompt' --answer context=c --prompt test_input_required_result_prompt
    run_client "no server" "a program that only ends" auto fails '' -- false
    run_client "no server" "a program that does not exist" auto fails '' -- ./no-such-program
}

run_rmcp() {
    run_rmcp_at "rmcp" "$rmcp/rmcp_server"
}

run_rmcp_over_http() {
    served_at "$rmcp/rmcp_server" --http 127.0.0.1:PORT
    run_rmcp_at "rmcp over HTTP" "$url"
    served_at "$everything" --http 127.0.0.1:PORT
    drive "$rmcp/rmcp_client" "$url"
}

# Runs our client against rmcp: `run_rmcp_at NAME COMMAND`, or with a URL as the command.
run_rmcp_at() {
    local version name=$1 peer=$2 versions=(2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28)
    # Skip 2024-11-05, which has another transport for HTTP.
    if [[ $peer == http://* ]]; then versions=("${versions[@]:1}"); fi
    rmcp() { run_client "$name" "$1" "$version" "${@:2}" -- "$peer"; }
    for version in "${versions[@]}"; do
        rmcp "lists, in two pages" ok ask_roots
        rmcp "a tool" ok 'päivää 👋' --call echo --args '{"message":"päivää 👋"}'
        rmcp "content" ok 'image/png, 8 bytes' --call show
        rmcp "structured content" ok 'structured: {"sum":42}' --call add --args '{"a":2,"b":40}'
        rmcp "isError" fails 'it is broken' --call fail
        rmcp "no such tool" fails '-32602' --call no_such_tool
        rmcp "progress" ok 'progress 3 of 3' --call slow --args '{"steps":3,"pause":10}'
        if [[ $peer == http://* ]]; then
            : >"$log"
            rmcp "cancel" fails 'did not respond in time' --timeout 2 --call slow --args '{"steps":1,"pause":60000}'
            # shellcheck disable=SC2016  # the inner shell expands it
            check_run "our client, $name" "cancel, at the server" "$version" ok 'slow was cancelled' \
                bash -c 'until grep "slow was cancelled" "$0"; do sleep 0.1; done' "$log"
        else
            rmcp "cancel" fails 'slow was cancelled' --timeout 2 --call slow --args '{"steps":1,"pause":60000}'
        fi
        rmcp "logging" ok 'it is warm' --log-level info --call log
        rmcp "resources" ok 'some text' --read test://text
        rmcp "bytes" ok 'test://bytes, 8 bytes' --read test://bytes
        rmcp "templates" ok 'the note todo' --read note://todo
        rmcp "subscriptions" ok "notification: clock://ticks has changed" --subscribe clock://ticks --call tick --listen 0.5
        rmcp "prompts" ok 'Greet Ada.' --prompt greet --args '{"who":"Ada"}'
        rmcp "completion" ok 'Ada, Adele' --complete greet who Ad
        rmcp "sampling" ok '"text":"canned"' --sample canned --call ask_model
        rmcp "roots" ok "file://$here" --roots "$here" --call ask_roots
        rmcp "list changes" ok 'the list of tools has changed' --call more_tools --listen 0.5
        if [[ $version < 2026-07-28 ]]; then rmcp "ping" ok 'the client is there' --call ping; fi
        if [[ $version < 2025-06-18 ]]; then continue; fi
        rmcp "elicitation" ok '"name":"Ada"' --answer name=Ada --call ask_form
        if [[ $version < 2025-11-25 ]]; then continue; fi
        rmcp "url elicitation" ok '"action":"accept"' --answer open=yes --call ask_page
        if [[ $version < 2026-07-28 ]]; then continue; fi
        rmcp "skills" ok 'SKILL.md, verified' --skill skill://greeting/SKILL.md
        rmcp "a task" ok 'working, in a moment' --call task
        rmcp "a task that requires input" ok '"name":"Ada"' --answer name=Ada --call task_form
    done
    version=auto rmcp "lists, in two pages" ok ask_roots
}

# Prints the name and the version of the inspector.
name_of_inspector() {
    local package=$modules/@modelcontextprotocol/inspector/package.json
    echo "inspector $(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).version' "$package")"
}

# Runs the inspector in its command-line mode: `inspect_with WHO WHAT COLUMN EXIT WORD ERA TARGET... OPTION...`.
inspect_with() {
    check_run "${@:1:5}" env HOME="$scratch" \
        "$new_node" "$modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli "${@:7}" \
        --quiet --format json --connect-timeout "${PATIENCE}000" --protocol-era "$6"
}

run_inspector() {
    run_inspector_at "$(name_of_inspector)" "$everything"
}

run_inspector_over_http() {
    served_at "$everything" --http 127.0.0.1:PORT
    run_inspector_at "$(name_of_inspector) over HTTP" "$url"
}

# Runs the inspector against our server: `run_inspector_at NAME TARGET`.
run_inspector_at() {
    local era who=$1 served=$2
    inspector() { inspect_with "$who" "$1" "$era" "$2" "$3" "$era" "$served" "${@:4}"; }
    for era in legacy auto modern; do
        inspector "tools" ok '"name":"echo"' --method tools/list --strict
        inspector "content" ok '"text":"päivää 👋"' \
            --method tools/call --tool-name echo --tool-args-json '{"message":"päivää 👋"}'
        inspector "structured content" ok '"structuredContent":{"sum":42}' \
            --method tools/call --tool-name add --tool-args-json '{"a":2,"b":40}'
        inspector "content" fails 'intentionally returns an error' --method tools/call --tool-name test_error_handling
        inspector "resources" ok 'the content of the static text resource' \
            --method resources/read --uri test://static-text
        inspector "templates" ok 'note://{name}' --method resources/templates/list
        inspector "prompts" ok "arg1='a', arg2='b'" --method prompts/get --prompt-name test_prompt_with_arguments \
            --prompt-args arg1=a arg2=b
    done
    era=legacy inspector "logging" ok '{"result":{}}' --method logging/setLevel --log-level debug
}
