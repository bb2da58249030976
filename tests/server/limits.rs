//! Buffers at their limits: page sizes, minimum sizes, oversized responses.

use crate::support::server::tools::{BARE, CONFIG};
use crate::support::server::{ServerHarness, Setup, hello};
use crate::support::transport::{Pace, feed};
use mcp_proto::json::Json;
use mcp_proto::server::{
    Event, Experimental, Feature, Limits, Prompt, Prompts, Resource, ResourceTemplate, Resources, Server,
    ServerConfig, Slot, Tool, Tools, UnknownVersion,
};
use mcp_proto::{
    Action, ConfigError, InvalidToolHeader, Millis, ProtocolError, Revision, Revisions, SendError,
};

static CATALOG: [Tool<'static>; 9] = [
    Tool::new("a", "{}"),
    Tool::new("b", "{}").description("a longer description that takes more of a page than others do"),
    Tool::new("c", "{}").title("C").read_only(true),
    Tool::new("d", r#"{"type":"object","properties":{"x":{"type":"integer","minimum":0}}}"#),
    Tool::new("e", "{}").output_schema("{}"),
    Tool::new("f", "{}"),
    Tool::new("g", "{}"),
    Tool::new("h", "{}"),
    Tool::new("i", "{}"),
];
static STATIC: Tools<'static> = Tools::new(&CATALOG);
static STATIC_FEATURES: [&dyn Feature; 1] = [&STATIC];
static BY_HOST: Tools<'static> = Tools::dynamic_list();
static BY_HOST_FEATURES: [&dyn Feature; 1] = [&BY_HOST];

/// Returns the size of the smallest transmit buffer of a server with this configuration.
fn needed(info: &ServerConfig<'_>, frames: bool) -> usize {
    let make = |tx: usize| {
        let (mut rx, mut tx) = (vec![0; 4096], vec![0; tx]);
        let server = Server::new(info, &mut rx[..], &mut tx[..]);
        let server = if frames { server.and_then(Server::message_mode) } else { server };
        server.map(drop)
    };
    let Err(ConfigError::TxTooSmall { needed: first }) = make(0) else {
        panic!("an empty buffer is too small")
    };
    // Message mode can need more space than `new` requires, because `new` assumes lines.
    let needed = match make(first) {
        Ok(()) => first,
        Err(ConfigError::TxTooSmall { needed }) => needed,
        Err(other) => panic!("{other}"),
    };
    assert!(make(needed).is_ok());
    assert_eq!(make(needed - 1), Err(ConfigError::TxTooSmall { needed }));
    needed
}

/// The `_meta` of a request of the stateless era.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// Sends a line and returns the output lines.
fn exchange(harness: &mut ServerHarness<'_>, line: &str) -> Vec<String> {
    harness.transport.write_line(line.as_bytes());
    harness.run();
    let output = harness.take_output();
    output.lines().map(String::from).collect()
}

/// Requests all pages of the tool list. Returns the names of all tools, and the number of pages.
fn list_all(harness: &mut ServerHarness<'_>) -> (Vec<String>, usize) {
    let (mut names, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let lines = exchange(
            harness,
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{cursor}}}}}"#),
        );
        let [line] = &lines[..] else { panic!("one answer: {lines:?}") };
        let result = Json::parse(line.as_bytes()).unwrap().get("result").unwrap_or_else(|| panic!("{line}"));
        for tool in result.get("tools").unwrap().elements() {
            names.push(tool.get("name").unwrap().string().unwrap().to_string());
        }
        pages += 1;
        assert!(pages < 100, "the list is endless");
        match result.get("nextCursor") {
            Some(next) => cursor = format!("\"cursor\":{}", next.raw()),
            None => return (names, pages),
        }
    }
}

fn connect(harness: &mut ServerHarness<'_>) {
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}}"#, hello("2025-11-25"));
    assert_eq!(exchange(harness, &line).len(), 1);
}

#[test]
fn catalog_is_listed_completely_for_any_page_size() {
    let info = ServerConfig::new("s", "1").features(&STATIC_FEATURES);
    let expected: Vec<_> = CATALOG.iter().map(Tool::name).collect();
    let least = needed(&info, false);
    let mut seen = std::collections::BTreeSet::new();
    for size in least..least + 1200 {
        let (mut rx, mut tx) = ([0; 256], vec![0; size]);
        let mut harness = ServerHarness::new(Server::new(&info, &mut rx, &mut tx[..]).unwrap(), Pace::FAST);
        connect(&mut harness);
        let (names, pages) = list_all(&mut harness);
        assert_eq!(names, expected, "with {size} bytes");
        let split = [ProtocolError::ListSplit];
        assert_eq!(harness.record.faults, if pages > 1 { &split[..] } else { &[] }, "with {size} bytes");
        seen.insert(pages);
    }
    assert!(seen.len() > 2 && seen.contains(&1), "{seen:?}");
}

#[test]
fn dynamic_entry_too_large_for_a_page_is_omitted() {
    static LARGE: [Tool<'static>; 5] = [
        Tool::new("one", "{}"),
        Tool::new("large", "{}").description(concat!(
            "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
            "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
            "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
            "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
        )),
        Tool::new("broken", "{\"type\":"),
        Tool::new("two", "{}"),
        Tool::new("three", "{}"),
    ];
    let info = ServerConfig::new("s", "1").features(&BY_HOST_FEATURES);
    for size in 345..500 {
        let (mut rx, mut tx) = ([0; 256], vec![0; size]);
        let mut harness = ServerHarness::new(Server::new(&info, &mut rx, &mut tx[..]).unwrap(), Pace::FAST);
        harness.record.listed = &LARGE;
        connect(&mut harness);
        let (names, _) = list_all(&mut harness);
        assert_eq!(names, ["one", "two", "three"], "with {size} bytes");
        let mut left_out = 0;
        for fault in &harness.record.faults {
            let ProtocolError::EntriesOmitted { count } = fault else { panic!("{fault}") };
            assert!(fault.is_application_error() && *count > 0);
            left_out += count;
        }
        assert_eq!(left_out, 2, "with {size} bytes");
    }
}

/// Returns messages that cause every kind of response that the server writes without the application.
fn machine_made(id: &str) -> Vec<String> {
    let meta = |version: &str| {
        format!(
            r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
        )
    };
    let call = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    let long = "m".repeat(200);
    let mut lines = vec![
        call(&long, "{}"),
        call("tools/list", "{}"),
        call("ping", "{}"),
        call("ping", "[]"),
        call("initialize", "{}"),
        call("initialize", &hello("1.0.0-with-32-characters-in-all.")),
        call("server/discover", &format!("{{{}}}", meta("2026-07-28"))),
        call("server/discover", &format!("{{{}}}", meta("1900-01-01-of-32-characters-all."))),
        call("tools/list", &format!("{{{}}}", meta("2026-07-28"))),
        call("tools/call", &format!("{{{},\"name\":\"{long}\"}}", meta("2026-07-28"))),
        call(&long, &format!("{{{}}}", meta("2026-07-28"))),
        call("ping", &format!("{{\"x\":{}{}}}", "[".repeat(200), "]".repeat(200))),
        format!("{{\"id\":{id}}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}"),
        "nonsense".into(),
        "[]".into(),
    ];
    for revision in &Revision::ALL[..4] {
        lines.push(call("initialize", &hello(revision.as_str())));
    }
    lines.push(call("initialize", &hello("2025-11-25")));
    lines.push(call("tools/call", &format!("{{\"name\":\"{long}\"}}")));
    lines
}

#[test]
fn minimum_buffer_fits_every_message_of_the_server() {
    let large = ServerConfig::new("s", "1").instructions("instructions that are longer than any error could ever be, so \
        that the answer to `initialize` and to `server/discover` decides how much is needed, and nothing else does at all");
    let infos = [
        BARE,
        CONFIG,
        CONFIG.anonymous_results(),
        CONFIG.revisions(Revisions::only(Revision::V2024_11_05)),
        CONFIG.revisions(Revisions::STATELESS),
        CONFIG.unknown_version(UnknownVersion::Reject),
        ServerConfig::new("s", "1").features(&STATIC_FEATURES),
        BARE.limits(Limits::DEFAULT.with_id(8)),
        BARE.limits(Limits::DEFAULT.with_id(1000)),
        large,
    ];
    for info in infos {
        let size = needed(&info, false);
        assert!(needed(&info, true) > size, "message mode needs more bytes");
        let limit = if size > 1000 { 1000 } else { 64 };
        let id = format!("\"{}\"", "i".repeat(if size < 400 { 6 } else { limit - 2 }));
        for line in machine_made(&id) {
            let (mut rx, mut tx) = ([0; 4096], vec![0; size]);
            let mut harness =
                ServerHarness::new(Server::new(&info, &mut rx, &mut tx[..]).unwrap(), Pace::FAST);
            let lines = exchange(&mut harness, &line);
            assert_eq!(lines.len(), 1, "{line} with {size} bytes: {lines:?}");
            assert!(Json::parse(lines[0].as_bytes()).is_ok());
            assert!(!lines[0].contains("too large"), "{line}: {lines:?}");
            assert!(lines[0].len() < size);
        }
    }
}

#[test]
fn receive_buffer_must_hold_an_id_and_a_margin() {
    for id in [8, 64, 200] {
        let info = BARE.limits(Limits::DEFAULT.with_id(id));
        let make = |rx: usize| {
            let (mut rx, mut tx) = (vec![0; rx], vec![0; 4096]);
            Server::new(&info, &mut rx[..], &mut tx[..]).map(drop)
        };
        let Err(ConfigError::RxTooSmall { needed }) = make(0) else { panic!("an empty buffer is too small") };
        assert!(needed > id);
        assert_eq!(make(needed), Ok(()));
        assert_eq!(make(needed - 1), Err(ConfigError::RxTooSmall { needed }));
    }
}

#[test]
fn minimum_buffer_fits_the_largest_entry_of_each_catalog() {
    let large = "x".repeat(2000);
    let prompts = [Prompt::new("large").description(&large)];
    let resources = [Resource::new("lib:r", "large").description(&large)];
    let templates = [ResourceTemplate::new("lib:{t}", "large").description(&large)];
    let prompts = Prompts::new(&prompts);
    let templates = Resources::new(&[]).templates(&templates);
    let resources = Resources::new(&resources);
    let catalogs: [(&dyn Feature, &str); 3] = [
        (&prompts, "prompts/list"),
        (&resources, "resources/list"),
        (&templates, "resources/templates/list"),
    ];
    for (feature, method) in catalogs {
        let features = [feature];
        let config = ServerConfig::new("s", "1").features(&features);
        for meta in ["", META] {
            let (mut rx, mut tx) = ([0; 1024], vec![0; needed(&config, false)]);
            let server = Server::new(&config, &mut rx, &mut tx[..]).unwrap();
            let mut harness = ServerHarness::new(server, Pace::FAST);
            if meta.is_empty() {
                connect(&mut harness);
            }
            let id = format!("\"{}\"", "i".repeat(62));
            let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}}}}}"#);
            let page = exchange(&mut harness, &request).concat();
            assert!(page.contains(&large), "{method}: {page}");
        }
    }
}

#[test]
fn experiments_are_checked_by_new() {
    let new = |experiments: &[(&str, &str)]| {
        let experimental = Experimental::new(experiments);
        let features: [&dyn Feature; 1] = [&experimental];
        let config = ServerConfig::new("s", "1").features(&features);
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        Server::new(&config, &mut rx, &mut tx).map(drop)
    };
    assert_eq!(new(&[("a", "{}"), ("b", "{}")]), Ok(()));
    assert_eq!(new(&[("a", "{}"), ("a", "{}")]), Err(ConfigError::DuplicateName { entry: 1 }));
    assert_eq!(new(&[("a", "[]")]), Err(ConfigError::NotAnObject { entry: 0 }));
}

#[test]
fn invalid_configuration_is_refused_by_new() {
    fn new(tools: &[Tool<'_>]) -> Result<(), ConfigError> {
        let tools = Tools::try_new(tools)?;
        let features: [&dyn Feature; 1] = [&tools];
        let info = ServerConfig::new("s", "1").features(&features);
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        Server::new(&info, &mut rx, &mut tx).map(drop)
    }
    let (a, b) = (Tool::new("a", "{}"), Tool::new("b", "{}"));
    assert_eq!(new(&[a, b]), Ok(()));
    assert_eq!(new(&[a, b, a]), Err(ConfigError::DuplicateName { entry: 2 }));
    for schema in ["", "{", "{}}", "nonsense", "{\"a\":}"] {
        assert!(
            matches!(new(&[a, Tool::new("b", schema)]), Err(ConfigError::InvalidJson { entry: 1, .. })),
            "{schema}"
        );
        assert!(
            matches!(new(&[a, b.output_schema(schema)]), Err(ConfigError::InvalidJson { entry: 1, .. })),
            "{schema}"
        );
    }
    let annotated = r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#;
    let error = InvalidToolHeader::Type;
    assert_eq!(new(&[a, Tool::new("b", annotated)]), Err(ConfigError::InvalidToolHeader { entry: 1, error }));
    for schema in ["[]", "1", "null", "\"x\"", "true"] {
        assert_eq!(new(&[Tool::new("b", schema)]), Err(ConfigError::NotAnObject { entry: 0 }), "{schema}");
        assert_eq!(new(&[a, b.meta(schema)]), Err(ConfigError::NotAnObject { entry: 1 }), "{schema}");
    }
    let large = "x".repeat(2000);
    assert!(matches!(new(&[a, b.description(&large)]), Err(ConfigError::TxTooSmall { needed: 2001.. })));
    // The error message names the entry.
    assert!(ConfigError::DuplicateName { entry: 2 }.to_string().contains("entry 2"));
    let nothing = BARE.revisions(Revisions::HANDSHAKE.and(Revisions::STATELESS));
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    assert_eq!(Server::new(&nothing, &mut rx, &mut tx).map(drop), Err(ConfigError::NoRevision));
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 31]);
    let server = Server::new(&BARE, &mut rx, &mut tx).unwrap();
    assert_eq!(
        server.in_flight(&mut slots, &mut text).map(drop),
        Err(ConfigError::TextTooSmall { needed: 32 })
    );
    let server = Server::new(&BARE, &mut rx, &mut tx).unwrap();
    assert!(matches!(server.max_reply_size(100).map(drop), Err(ConfigError::TxTooSmall { .. })));
}

#[test]
fn id_longer_than_the_slot_text_prevents_only_deferral() {
    let setup = Setup::new(CONFIG).slots(4, 10).session(Revision::V2025_11_25);
    let defer = |id: &str| format!("> call {id} tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n");
    setup.check(&format!("{}* deferred 1\n", defer("\"12345678\"")));
    for id in ["\"123456789\"", &"9".repeat(64)] {
        setup.check(&format!("> call {id} ping\n< result {id}\n> call {id} no/such\n< error {id} -32601 …\n! fault UnknownMethod\n"));
        setup.check(&format!(
            "{}! full\n< error {id} -32603 …\n* deferred 0\n> call {id} ping\n< result {id}\n",
            defer(id)
        ));
    }
    setup.check(&format!("> call {} ping\n< error - -32600 …\n! fault IdTooLong", "9".repeat(65)));
}

#[test]
fn oversized_response_becomes_a_small_error() {
    let setup = Setup::new(CONFIG).tx(600).session(Revision::V2025_11_25);
    let error = "< error 1 -32603 Internal error: the response is too large (at most 600 bytes)\n! fault ReplyTooLarge\n";
    let arguments = |bytes: usize| format!("{{\"bytes\":{bytes}}}");
    let call = |bytes| {
        let arguments = arguments(bytes);
        format!(
            "> call 1 tools/call {{\"name\":\"large\",\"arguments\":{arguments}}}\n! call large {arguments}\n"
        )
    };
    // `frame` is the length of the line without its text, including the newline.
    let frame = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""}]}}"#.len() + 1;
    let most = 600 - frame;
    setup.check(&format!("{}< result 1 …\n", call(most)));
    for bytes in [most + 1, 601, 5000] {
        setup.check(&format!("{}{error}> call 2 ping\n< result 2", call(bytes)));
    }
    setup.check(&format!(
        "> call 1 tools/call {{\"name\":\"large_error\"}}\n! call large_error {{}}\n{error}> call 2 ping\n< result 2"
    ));
    let long = "y".repeat(700);
    setup.check(&format!(
        "> call 1 tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n* answer 0 {long}\n{error}* deferred 0\n\
         * log error {long}\n! not now Unwritable\n* log error short\n< note notifications/message …"
    ));
}

#[test]
fn handler_that_writes_invalid_json_gets_an_error() {
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(
        "> call 1 tools/call {\"name\":\"unbalanced\"}\n! call unbalanced {}\n! fault InvalidReply\n\
         < error 1 -32603 Internal error: the response is invalid\n> call 2 ping\n< result 2",
    );
}

#[test]
fn progress_and_logs_leave_space_for_an_error() {
    // 420 bytes hold two or three notifications and the response.
    let info = CONFIG.limits(Limits::DEFAULT.with_id(8));
    let setup = Setup::new(info).tx(420).slots(0, 0).session(Revision::V2025_11_25);
    setup.check(
        "> call 1 tools/call {\"name\":\"log\"}\n! call log {}\n! not now Unwritable\n\
         < note notifications/message …\n< note notifications/message …\n< result 1 …\n",
    );
}

#[test]
fn oversized_responses_are_reported_one_by_one() {
    let (mut rx, mut tx) = ([0; 1024], [0; 4096]);
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 80]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().max_reply_size(1000).unwrap();
    let mut server = server.in_flight(&mut slots, &mut text).unwrap();
    let mut tickets = Vec::new();
    for id in [1, 2] {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"defer\",\"_meta\":{meta}}}}}\n"
        );
        feed(&mut server, Millis(0), line.as_bytes());
        assert!(matches!(server.poll(Millis(0)), Action::Event));
        let Some(Event::Call(call)) = server.event() else { panic!("call") };
        tickets.push(call.defer(None).unwrap());
    }
    let large = "x".repeat(2000);
    server.reply(tickets[0]).unwrap().text(&large);
    assert_eq!(server.reply(tickets[1]).map(drop), Err(SendError::Busy), "the first error is reported first");
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    assert!(matches!(server.event(), Some(Event::ProtocolError(ProtocolError::ReplyTooLarge { .. }))));
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    assert!(matches!(server.event(), Some(Event::Writable)));
    server.reply(tickets[1]).unwrap().text(&large);
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    assert!(matches!(server.event(), Some(Event::ProtocolError(ProtocolError::ReplyTooLarge { .. }))));
}
