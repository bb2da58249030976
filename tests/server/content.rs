//! Tool results in the form of each revision.

use crate::support::server::Setup;
use crate::support::server::catalog::{LIBRARY, LOG, TOOLS};
use mcp_proto::Revision;
use mcp_proto::server::{Feature, ServerConfig, Tools};

/// Returns a stateless request with further params.
pub(crate) fn stateless(id: u32, method: &str, params: &str) -> String {
    format!(
        r#"> call {id} {method} {{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}{params}}}
"#
    )
}

/// The first members of a stateless result.
pub(crate) const HEAD: &str =
    r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;

/// Calls a tool in this revision. Expects these members in the result.
fn call(revision: Revision, info: ServerConfig<'static>, tool: &str, members: &str) {
    if revision == Revision::V2026_07_28 {
        let ask = stateless(1, "tools/call", &format!(r#","name":"{tool}""#));
        let head = if members.contains("serverInfo") { String::new() } else { format!("{HEAD},") };
        Setup::new(info).check(&format!("{ask}! call {tool} {{}}\n< result 1 {{{head}{members}}}"));
    } else {
        Setup::new(info).session(revision).check(&format!(
            "> call 1 tools/call {{\"name\":\"{tool}\"}}\n! call {tool} {{}}\n< result 1 {{{members}}}"
        ));
    }
}

#[test]
fn content_has_the_form_of_its_revision() {
    for revision in Revision::ALL {
        let named = revision >= Revision::V2025_06_18;
        let since_d = revision >= Revision::V2025_11_25;
        let modified = if named { r#","lastModified":"2026-01-31T12:00:00Z""# } else { "" };
        let annotations =
            format!(r#","annotations":{{"audience":["user","assistant"],"priority":1{modified}}}"#);
        let meta = if named { r#","_meta":{"b":2}"# } else { "" };
        let audio = if revision >= Revision::V2025_03_26 {
            r#"{"type":"audio","data":"/w==","mimeType":"audio/wav"}"#
        } else {
            r#"{"type":"text","text":"[audio: audio/wav, 1 bytes]"}"#
        };
        let icons = if since_d { r#","icons":[{"src":"data:,i"}]"# } else { "" };
        let link = if named {
            format!(
                r#"{{"type":"resource_link","uri":"lib:log","name":"log","title":"The log","description":"What happened"{icons},"_meta":{{"m":1}},"mimeType":"text/markdown"{annotations},"size":12}}"#
            )
        } else {
            format!(r#"{{"type":"text","text":"The log: lib:log"{annotations}}}"#)
        };
        let pieces = [
            r#"{"type":"text","text":"t\n"}"#.into(),
            format!(r#"{{"type":"text","text":"for people"{annotations}}}"#),
            format!(r#"{{"type":"image","data":"AAAA","mimeType":"image/png"{meta}}}"#),
            r#"{"type":"image","data":"YWI=","mimeType":"image/png"}"#.into(),
            audio.into(),
            r#"{"type":"resource","resource":{"uri":"lib:1","mimeType":"text/x","text":"one"}}"#.into(),
            r#"{"type":"resource","resource":{"uri":"lib:2","mimeType":"application/octet-stream","blob":"dHdv"}}"#.into(),
            link,
        ];
        call(revision, LIBRARY, "everything", &format!(r#""content":[{}],"isError":true"#, pieces.join(",")));
    }
    assert_eq!((LOG.uri(), LOG.name()), ("lib:log", "log"));
}

#[test]
fn structured_content_is_written_beside_the_blocks() {
    for revision in Revision::ALL {
        let knows_objects = revision >= Revision::V2025_06_18;
        let knows_all = revision == Revision::V2026_07_28;
        let value =
            |text: &str, known| if known { format!(r#""structuredContent":{text},"#) } else { String::new() };
        let object = value(r#"{"n":1}"#, knows_objects);
        call(revision, LIBRARY, "both", &format!(r#"{object}"content":[{{"type":"text","text":"one"}}]"#));
        let after = if knows_all { r#","structuredContent":[1,2]"# } else { "" };
        call(revision, LIBRARY, "after", &format!(r#""content":[{{"type":"text","text":"one"}}]{after}"#));
        let mirrored = value(r#"{"a":"\""}"#, knows_objects);
        call(
            revision,
            LIBRARY,
            "only_structured",
            &format!(r#"{mirrored}"content":[{{"type":"text","text":"{{\"a\":\"\\\"\"}}"}}]"#),
        );
        // Some clients need at least one content block.
        call(revision, LIBRARY, "nothing", r#""content":[{"type":"text","text":""}]"#);
    }
}

#[test]
fn result_meta_is_merged_with_the_server_info() {
    for revision in Revision::ALL {
        let named =
            r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"own":{"x":1}}"#;
        let meta = match revision {
            Revision::V2026_07_28 => format!(r#""resultType":"complete",{named}"#),
            _ => r#""_meta":{"own":{"x":1}}"#.into(),
        };
        let value = if revision >= Revision::V2025_06_18 { r#","structuredContent":{"a":1}"# } else { "" };
        let members = format!(r#"{meta}{value},"content":[{{"type":"text","text":"t"}}]"#);
        call(revision, LIBRARY, "meta", &members);
    }
    let ask = stateless(1, "tools/call", r#","name":"meta""#);
    Setup::new(LIBRARY.anonymous_results()).check(&format!(
        r#"{ask}! call meta {{}}
           < result 1 {{"resultType":"complete","_meta":{{"own":{{"x":1}}}},"structuredContent":{{"a":1}},"content":…}}"#
    ));
}

#[test]
fn misordered_or_invalid_result_becomes_an_error() {
    for revision in [Revision::V2024_11_05, Revision::V2025_11_25] {
        for tool in ["between", "twice", "late_meta", "bad_meta", "bad_block_meta"] {
            // The oldest revision omits the `_meta` of a block.
            if tool == "bad_block_meta" && revision == Revision::V2024_11_05 {
                continue;
            }
            Setup::new(LIBRARY).session(revision).check(&format!(
                "> call 1 tools/call {{\"name\":\"{tool}\"}}\n! call {tool} {{}}\n\
                 < error 1 -32603 Internal error: the response is invalid\n! fault InvalidReply"
            ));
        }
    }
}

static ALWAYS: Tools<'static> = TOOLS.always_structured_content();
static ALWAYS_FEATURES: [&dyn Feature; 1] = [&ALWAYS];

#[test]
fn always_structured_content_is_added_without_a_schema() {
    let info = ServerConfig::new("s", "1").features(&ALWAYS_FEATURES);
    for revision in Revision::ALL {
        let knows = revision >= Revision::V2025_06_18;
        let empty = if knows { r#","structuredContent":{}"# } else { "" };
        call(revision, info, "plain", &format!(r#""content":[{{"type":"text","text":"t"}}]{empty}"#));
        call(revision, info, "nothing", &format!(r#""content":[{{"type":"text","text":""}}]{empty}"#));
        let own = if knows { r#""structuredContent":{"n":1},"# } else { "" };
        call(revision, info, "both", &format!(r#"{own}"content":[{{"type":"text","text":"one"}}]"#));
        let schemas = r#""content":[{"type":"text","text":"{\"type\":\"object\",\"x\":1} Some(\"{\\\"type\\\":\\\"object\\\"}\")"}]"#;
        call(revision, info, "schema", schemas);
    }
}

#[test]
fn logs_and_changes_of_any_kind_can_be_sent_in_a_call() {
    Setup::new(LIBRARY).session(Revision::V2025_11_25).check(
        r#"> call 1 tools/call {"name":"log_more"}
           ! call log_more {}
           < note notifications/message {"level":"error","data":{"a":[1]}}
           < result 1 {"content":[{"type":"text","text":"Ok(()) Err(Invalid)"}]}
           * log-json alert [true]
           < note notifications/message {"level":"alert","data":[true]}
           * log-json alert ]
           ! not now Invalid
           > call 2 tools/call {"name":"change_more"}
           ! call change_more {}
           < result 2 …
           < note notifications/resources/list_changed
           < note notifications/prompts/list_changed
           * changed prompts
           < note notifications/prompts/list_changed
           * changed resources
           < note notifications/resources/list_changed"#,
    );
}
