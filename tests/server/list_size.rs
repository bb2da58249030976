//! Tests of buffer sizes that `const` functions compute: for an unsplit list, and for a request of each era.

use crate::support::server::ServerHarness;
use crate::support::transport::Pace;
use mcp_proto::TaskSupport;
use mcp_proto::server::{Server, ServerConfig, Tool, Tools};
use mcp_proto::{Era, Icon, Millis, ProtocolError, Revision, Theme};

static ICONS: [Icon<'static>; 2] = [
    Icon::new("https://example.com/\"led\".png")
        .mime_type("image/png")
        .sizes(&["48x48", "any"])
        .theme(Theme::Dark),
    Icon::new("data:,"),
];
static PLAIN: Tools<'static> = Tools::new(&[Tool::new("a", "{}"), Tool::new("b", r#"{"type":"object"}"#)]);
static RICH: Tools<'static> = Tools::new(&[
    Tool::new("a", "{ }")
        .title("T\u{1}\n\"")
        .description("line\nand \\ and ä")
        .read_only(true)
        .open_world(false),
    Tool::new("b", r#"{"type":"object"}"#).output_schema(r#"{"type":"object"}"#).meta(r#"{"x":1}"#),
    Tool::new("c", "{}")
        .icons(&ICONS)
        .destructive(false)
        .idempotent(true)
        .task_support(TaskSupport::Required),
    Tool::new("d", "{}").title("only a title"),
]);
static PLAIN_INFO: ServerConfig<'static> = ServerConfig::new("s", "1").features(&[&PLAIN]);
static RICH_INFO: ServerConfig<'static> = ServerConfig::new("rich\"", "1.0")
    .features(&[&RICH])
    .title("A server")
    .description("With all details")
    .website("https://example.com")
    .icons(&ICONS)
    .cache(Millis(u64::MAX), false);
static ANONYMOUS_INFO: ServerConfig<'static> =
    ServerConfig::new("a server with a long name", "1").features(&[&RICH]).anonymous_results();

/// The longest id that the default limits permit.
fn id() -> String {
    format!("\"{}\"", "i".repeat(62))
}

/// Sends messages, and returns the responses and faults. Returns `None` if the server refuses the buffers.
fn exchange(
    info: &ServerConfig<'_>,
    [rx, tx]: [usize; 2],
    lines: &[String],
) -> Option<(String, Vec<ProtocolError>)> {
    let (mut rx, mut tx) = (vec![0; rx], vec![0; tx]);
    let mut harness = ServerHarness::new(Server::new(info, &mut rx[..], &mut tx[..]).ok()?, Pace::FAST);
    for line in lines {
        harness.transport.write_line(line.as_bytes());
        harness.run();
    }
    Some((harness.take_output(), harness.record.faults.clone()))
}

/// Returns the messages of a session. The last message is the request under test.
fn session(revision: Revision, method: &str, members: &str, details: [&str; 3]) -> Vec<String> {
    let (id, version, [name, number, capabilities]) = (id(), revision.as_str(), details);
    if revision.era() == Era::Handshake {
        return vec![
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":{name},"version":{number}}}}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}"_meta":{{"progressToken":{id}}}}}}}"#
            ),
        ];
    }
    vec![format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientInfo":{{"name":{name},"version":{number}}},"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
    )]
}

#[test]
fn list_fits_a_buffer_of_the_computed_size() {
    for (info, tools, count) in [(&PLAIN_INFO, PLAIN, 2), (&RICH_INFO, RICH, 4), (&ANONYMOUS_INFO, RICH, 4)] {
        let size = tools.list_size(info);
        let mut least = 0;
        for revision in Revision::ALL {
            let lines = session(revision, "tools/list", "", [r#""c""#, r#""1""#, "{}"]);
            let is_whole = |tx: usize| {
                let Some((output, faults)) = exchange(info, [1024, tx], &lines) else { return false };
                assert_eq!(output.contains("nextCursor"), !faults.is_empty(), "{revision:?}: {faults:?}");
                faults.is_empty()
            };
            assert!(is_whole(size), "{revision:?} with {size} bytes");
            least = (0..size)
                .rev()
                .take_while(|tx| *tx > size / 2 && is_whole(*tx))
                .last()
                .unwrap_or(size)
                .max(least);
        }
        assert!(size - least <= 100 + 60 * count, "{size} bytes where {least} suffice");
    }
}

#[test]
fn dynamic_list_has_no_computed_size() {
    assert_eq!(Tools::dynamic_list().list_size(&PLAIN_INFO), 0);
}

#[test]
fn request_of_the_computed_size_fits_the_receive_buffer() {
    // Together, these details have 160 bytes.
    let (name, number) = (format!("\"{}\"", "n".repeat(150)), "\"1.25\"");
    let details = [&name[..], number, "{}"];
    for (revision, arguments) in [
        (Revision::V2025_11_25, 0),
        (Revision::V2025_11_25, 300),
        (Revision::V2026_07_28, 20),
        (Revision::V2026_07_28, 300),
    ] {
        let text = format!("\"{}\"", "x".repeat(arguments.max(8) - 8));
        let members = format!(r#""name":"x","arguments":{{"":{text}}},"#);
        let length = r#""x"{"":}"#.len() + text.len();
        let lines = session(revision, "tools/call", &members, details);
        let size = PLAIN_INFO.min_rx(revision.era(), length);
        let longest = lines.iter().map(String::len).max().unwrap() + 1;
        assert_eq!(longest, size, "{revision:?}");
        let (_, faults) = exchange(&PLAIN_INFO, [size, 1024], &lines).unwrap();
        assert_eq!(faults, [ProtocolError::UnknownTool]);
        let (_, faults) = exchange(&PLAIN_INFO, [size - 1, 1024], &lines).unwrap();
        assert_eq!(faults[0], ProtocolError::LineTooLong { limit: size - 1 });
    }
}
