//! Tests of the server functions, with calls like those of a C program. Miri also runs the tests.
#![allow(unsafe_code, clippy::unwrap_used, clippy::indexing_slicing, clippy::undocumented_unsafe_blocks)]

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;
use core::ptr;
use std::ffi::CString;

use crate::call::*;
use crate::event::{MCP_NO_TICKET, mcp_event_kind_t, mcp_event_kind_t::*, mcp_event_t, mcp_text_t};
use crate::server::*;
use crate::status::mcp_status_t::{self, *};
use crate::table::*;
use crate::value::*;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

const READ: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:y"}}"#;

const RESOURCE: mcp_resource_t = mcp_resource_t {
    uri: c"x:y".as_ptr(),
    name: c"y".as_ptr(),
    description: ptr::null(),
    mime_type: c"a/b".as_ptr(),
};

const fn tool(name: &'static CStr) -> mcp_tool_t {
    let none = ptr::null();
    mcp_tool_t {
        name: name.as_ptr(),
        input_schema: none,
        description: none,
        title: none,
        output_schema: none,
        hints: 0,
    }
}

pub(crate) fn text_of<'a>(text: mcp_text_t) -> &'a str {
    std::str::from_utf8(unsafe { crate::memory::slice(text.text.cast(), text.length) }.unwrap()).unwrap()
}

/// A C program: its server, the last event, the time, and the output of the server.
struct Program {
    server: *mut mcp_server_t,
    event: mcp_event_t,
    now: u64,
    written: Vec<u8>,
}

impl Program {
    /// Creates a server with two tools, a resource and a slot, and starts a session. Never frees the memory, like
    /// firmware.
    fn new() -> Program {
        let tools: &'static [mcp_tool_t] = Box::leak(Box::new([tool(c"a"), tool(c"b")]));
        let none = ptr::null();
        let entry =
            mcp_resource_t { uri: c"x:y".as_ptr(), name: c"y".as_ptr(), description: none, mime_type: none };
        let entries: &'static [mcp_resource_t] = Box::leak(Box::new([entry]));
        let config = mcp_server_config_t {
            name: c"s".as_ptr(),
            version: c"1".as_ptr(),
            instructions: none,
            tools: mcp_tools_t { entries: tools.as_ptr(), count: tools.len() },
            resources: mcp_resources_t {
                feature: &mcp_feature_resources,
                entries: entries.as_ptr(),
                count: 1,
            },
            restart_on_initialize: true,
        };
        let mut program = Program { server: lend(1), event: mcp_event_t::EMPTY, now: 0, written: Vec::new() };
        let (rx, tx) = (lend::<u8>(512), lend::<u8>(2048));
        let server = program.server;
        assert_eq!(unsafe { mcp_server_init(server, &config, rx, 512, tx, 2048) }, MCP_OK);
        let (slots, text) = (lend::<mcp_slot_t>(1), lend::<u8>(64));
        assert_eq!(unsafe { mcp_server_lend_slots(server, slots, 1, text, 64) }, MCP_OK);
        program.says(INITIALIZE, MCP_EVENT_CONNECTED);
        program
    }

    fn poll(&mut self) -> mcp_event_kind_t {
        unsafe { mcp_server_poll(self.server, self.now, &mut self.event) }
    }

    /// Polls and writes output, until the server waits for input or has an event.
    fn run(&mut self) -> mcp_event_kind_t {
        loop {
            let kind = self.poll();
            let mut length = 0;
            let output = unsafe { mcp_server_output(self.server, &mut length) };
            if kind != MCP_EVENT_IO || length == 0 {
                return kind;
            }
            // Write one byte more than half of the output, so that most messages are cut.
            let count = length / 2 + 1;
            self.written.extend_from_slice(unsafe { std::slice::from_raw_parts(output, count) });
            unsafe { mcp_server_consumed(self.server, count) };
        }
    }

    /// Passes a line to the server in pieces, and checks the kind of the event that follows.
    fn says(&mut self, line: &str, expected: mcp_event_kind_t) {
        let line = format!("{line}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            assert_eq!(self.run(), MCP_EVENT_IO, "{line}");
            let piece = rest.len().min(100);
            rest = &rest[unsafe { mcp_server_feed(self.server, rest.as_ptr(), piece) }..];
        }
        assert_eq!(self.run(), expected, "{line}");
    }

    fn calls(&mut self, id: u32, rest: &str) {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"b"{rest}}}}}"#);
        self.says(&line, MCP_EVENT_CALL);
        assert_eq!((self.event.index, text_of(self.event.name)), (1, "b"));
    }

    /// Polls until the server waits for input. Returns the last line of the output since the previous call of this
    /// function.
    fn last_line(&mut self) -> String {
        assert_eq!(self.run(), MCP_EVENT_IO);
        let text = String::from_utf8(std::mem::take(&mut self.written)).unwrap();
        text.lines().last().unwrap_or_default().to_owned()
    }

    fn defer(&mut self) -> (mcp_status_t, u64) {
        let mut ticket = 7;
        (unsafe { mcp_call_defer(self.event.call, 500, &mut ticket) }, ticket)
    }

    fn resume(&mut self, ticket: u64) -> (mcp_status_t, *mut crate::event::mcp_call_t) {
        let mut call = ptr::null_mut();
        (unsafe { mcp_server_resume(self.server, ticket, &mut call) }, call)
    }
}

/// Allocates memory for `count` values, without initializing the memory.
pub(crate) fn lend<T>(count: usize) -> *mut T {
    Box::leak(Box::<[T]>::new_uninit_slice(count)).as_mut_ptr().cast()
}

#[test]
fn configuration_is_checked() {
    let with_schema = |schema: &'static CStr| mcp_tool_t { input_schema: schema.as_ptr(), ..tool(c"a") };
    let two = [tool(c"a"), tool(c"a")];
    let nameless = [mcp_tool_t { name: ptr::null(), ..two[0] }];
    let not_utf8 = [mcp_tool_t { title: c"\xff".as_ptr(), ..two[0] }];
    let schemas = [c"{", c"", c"[]", c"nope"].map(|schema| [with_schema(schema)]);
    let output = [mcp_tool_t { output_schema: c"nope".as_ptr(), ..two[0] }];
    let cases: [(&[mcp_tool_t], usize, mcp_status_t); 12] = [
        (&[with_schema(c"{\"type\":\"object\"}")], 512, MCP_OK),
        (&schemas[0], 512, MCP_ERROR_CONFIG),
        (&schemas[1], 512, MCP_ERROR_CONFIG),
        (&schemas[2], 512, MCP_ERROR_CONFIG),
        (&schemas[3], 512, MCP_ERROR_CONFIG),
        (&output, 512, MCP_ERROR_CONFIG),
        (&two[..1], 512, MCP_OK),
        (&two, 512, MCP_ERROR_CONFIG),
        (&nameless, 512, MCP_ERROR_NULL),
        (&not_utf8, 512, MCP_ERROR_UTF8),
        (&two[..1], 10, MCP_ERROR_TX_TOO_SMALL),
        (&[], 512, MCP_OK),
    ];
    for (tools, size, expected) in cases {
        let mut config: mcp_server_config_t = unsafe { MaybeUninit::zeroed().assume_init() };
        (config.name, config.version) = (c"s".as_ptr(), c"1".as_ptr());
        config.tools = mcp_tools_t { entries: tools.as_ptr(), count: tools.len() };
        let (server, rx, tx) = (lend(1), lend(512), lend(size));
        let status = unsafe { mcp_server_init(server, &config, rx, 512, tx, size) };
        assert_eq!(status, expected);
    }
    let mut config: mcp_server_config_t = unsafe { MaybeUninit::zeroed().assume_init() };
    (config.name, config.version, config.tools.count) = (c"s".as_ptr(), c"1".as_ptr(), 1);
    assert_eq!(unsafe { mcp_server_init(lend(1), &config, lend(512), 512, lend(512), 512) }, MCP_ERROR_NULL);
    config.tools.count = 0;
    for (rx, tx) in [(ptr::null_mut(), lend(512)), (lend(512), ptr::null_mut())] {
        assert_eq!(unsafe { mcp_server_init(lend(1), &config, rx, 512, tx, 512) }, MCP_ERROR_NULL);
    }
    let status = unsafe { mcp_server_init(ptr::null_mut(), ptr::null(), lend(1), 1, lend(1), 1) };
    assert_eq!(status, MCP_ERROR_NULL);
}

#[test]
fn each_response_consumes_its_request() {
    type Respond = fn(&mut Program) -> mcp_status_t;
    let responses: [(Respond, &str); 5] = [
        (|it| unsafe { mcp_call_text(it.event.call, c"hi".as_ptr()) }, r#""text":"hi"}]}"#),
        (|it| unsafe { mcp_call_fail(it.event.call, c"no".as_ptr()) }, r#""isError":true"#),
        (|it| unsafe { mcp_call_invalid(it.event.call, c"bad".as_ptr()) }, "bad"),
        (
            |it| unsafe { mcp_call_json(it.event.call, c"{\"a\":1}".as_ptr()) },
            r#""structuredContent":{"a":1}"#,
        ),
        (
            |it| unsafe { mcp_call_error(it.event.call, 9, c"code".as_ptr()) },
            r#""error":{"code":9,"message":"code"}"#,
        ),
    ];
    let mut program = Program::new();
    for (id, (respond, expected)) in (1..).zip(responses) {
        program.calls(id, "");
        assert_eq!(respond(&mut program), MCP_OK);
        assert_eq!(respond(&mut program), MCP_ERROR_GONE, "{expected}");
        assert_eq!(unsafe { mcp_call_progress(program.event.call, 1, 0, ptr::null()) }, MCP_ERROR_GONE);
        let line = program.last_line();
        assert!(line.contains(expected) && line.contains(&format!("\"id\":{id},")), "{line}");
    }
}

#[test]
fn request_without_a_response_gets_an_error() {
    let mut program = Program::new();
    program.calls(1, "");
    assert_eq!(unsafe { mcp_call_text(program.event.call, ptr::null()) }, MCP_ERROR_NULL);
    let old = program.event.call;
    while program.run() != MCP_EVENT_IO {}
    assert_eq!(unsafe { mcp_call_text(old, c"late".as_ptr()) }, MCP_ERROR_GONE);
    assert!(program.last_line().contains(r#""id":1,"error""#));
}

#[test]
fn deferred_call_is_resumed_with_progress() {
    let mut program = Program::new();
    program.calls(1, r#","_meta":{"progressToken":5}"#);
    let (status, ticket) = program.defer();
    assert_eq!(status, MCP_OK);
    assert_eq!(program.defer(), (MCP_ERROR_GONE, MCP_NO_TICKET));
    program.calls(2, "");
    assert_eq!(program.defer(), (MCP_ERROR_FULL, MCP_NO_TICKET));
    assert_eq!(unsafe { mcp_call_fail(program.event.call, c"busy".as_ptr()) }, MCP_OK);
    assert!(program.last_line().contains("busy"));
    for (step, expected) in [(1, MCP_OK), (1, MCP_ERROR_NOT_WANTED), (2, MCP_OK)] {
        // A resumed request needs transmit space for its response, so write all output first.
        assert_eq!(program.run(), MCP_EVENT_IO);
        let (status, call) = program.resume(ticket);
        assert_eq!(status, MCP_OK);
        assert_eq!(unsafe { mcp_call_progress(call, step, 9, c"m".as_ptr()) }, expected);
    }
    assert!(program.last_line().contains(r#""progress":2,"total":9,"message":"m""#));
    let (_, call) = program.resume(ticket);
    assert_eq!(unsafe { mcp_call_text(call, c"done".as_ptr()) }, MCP_OK);
    assert!(program.last_line().contains("done"));
    assert_eq!(program.resume(ticket).0, MCP_ERROR_GONE);
    assert_eq!(program.resume(MCP_NO_TICKET).0, MCP_ERROR_GONE);
}

#[test]
fn deferred_call_ends_at_cancellation_timeout_and_reset() {
    let mut program = Program::new();
    program.calls(1, "");
    let (_, ticket) = program.defer();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    program.says(cancel, MCP_EVENT_CANCELLED);
    assert_eq!(program.event.ticket, ticket);
    program.calls(2, "");
    let (_, ticket) = program.defer();
    assert_eq!(program.run(), MCP_EVENT_IO);
    assert_eq!(program.event.deadline, 500);
    program.now = 500;
    assert_eq!(program.run(), MCP_EVENT_EXPIRED);
    assert_eq!(program.event.ticket, ticket);
    program.calls(3, "");
    let (_, ticket) = program.defer();
    unsafe { mcp_server_reset(program.server) };
    assert_eq!(program.resume(ticket).0, MCP_ERROR_GONE);
}

#[test]
fn resources_are_read_from_the_table() {
    let mut program = Program::new();
    program.says(READ, MCP_EVENT_READ);
    assert_eq!((program.event.index, text_of(program.event.name)), (0, "x:y"));
    assert_eq!(unsafe { mcp_call_text(program.event.call, c"".as_ptr()) }, MCP_ERROR_GONE);
    assert_eq!(unsafe { mcp_read_text(program.event.call, &RESOURCE, c"t".as_ptr()) }, MCP_OK);
    assert!(program.last_line().contains(r#"{"uri":"x:y","mimeType":"a/b","text":"t"}"#));
    program.says(READ, MCP_EVENT_READ);
    assert_eq!(unsafe { mcp_read_blob(program.event.call, &RESOURCE, [0, 255].as_ptr(), 2) }, MCP_OK);
    assert!(program.last_line().contains(r#""blob":"AP8=""#));
    program.says(&READ.replace("x:y", "x:z"), MCP_EVENT_IO);
    assert!(program.last_line().contains("-32002"));
}

#[test]
fn response_of_another_kind_keeps_a_deferred_request() {
    type Respond = fn(*mut crate::event::mcp_call_t) -> mcp_status_t;
    let text: Respond = |call| unsafe { mcp_call_text(call, c"ok".as_ptr()) };
    let contents: Respond = |call| unsafe { mcp_read_text(call, &RESOURCE, c"ok".as_ptr()) };
    for (kind, wrong, right) in [(MCP_EVENT_CALL, contents, text), (MCP_EVENT_READ, text, contents)] {
        let mut program = Program::new();
        if kind == MCP_EVENT_CALL {
            program.calls(1, "")
        } else {
            program.says(READ, kind)
        }
        let (_, ticket) = program.defer();
        assert_eq!(program.run(), MCP_EVENT_IO);
        let (_, call) = program.resume(ticket);
        assert_eq!(wrong(call), MCP_ERROR_GONE, "{kind:?}");
        assert_eq!(right(call), MCP_OK, "{kind:?}");
        assert!(program.last_line().contains(r#""text":"ok"}"#), "{kind:?}");
    }
}

#[test]
fn null_has_no_effect() {
    let mut program = Program::new();
    program.says(READ, MCP_EVENT_READ);
    let call = program.event.call;
    assert_eq!(unsafe { mcp_read_blob(call, &RESOURCE, ptr::null(), 1) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_call_defer(call, 0, ptr::null_mut()) }, MCP_ERROR_NULL);
    let (status, ticket) = program.defer();
    assert_eq!(status, MCP_OK);
    assert_eq!(unsafe { mcp_server_resume(program.server, ticket, ptr::null_mut()) }, MCP_ERROR_NULL);
    let (_, call) = program.resume(ticket);
    assert_eq!(unsafe { mcp_read_blob(call, &RESOURCE, ptr::null(), 0) }, MCP_OK);
    assert!(program.last_line().contains(r#""blob":"""#));
    let (json, mut value) = (mcp_text_t { text: ptr::null(), length: 1 }, 0);
    assert_eq!(unsafe { mcp_json_int(json, c"".as_ptr(), &mut value) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_json_int(mcp_text_t::EMPTY, c"".as_ptr(), &mut value) }, MCP_ERROR_TYPE);
    assert_eq!(unsafe { mcp_server_feed(program.server, ptr::null(), 1) }, 0);
    let (server, none) = (program.server, ptr::null_mut());
    assert_eq!(unsafe { mcp_server_lend_slots(server, ptr::null_mut(), 1, lend(64), 64) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_server_lend_slots(server, lend(1), 1, none, 64) }, MCP_ERROR_NULL);
    let json = mcp_text_t::new("\"\"");
    let root = c"".as_ptr();
    assert_eq!(unsafe { mcp_json_string(json, root, ptr::null_mut(), 1, &mut 0) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_json_string(json, root, [0; 4].as_mut_ptr(), 4, ptr::null_mut()) }, MCP_OK);
    let json = mcp_text_t::new("1");
    assert_eq!(unsafe { mcp_json_int(json, root, ptr::null_mut()) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_json_fixed(json, root, 0, ptr::null_mut()) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_json_bool(mcp_text_t::new("true"), root, ptr::null_mut()) }, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_json_get(json, root, ptr::null_mut()) }, MCP_ERROR_NULL);
}

#[test]
fn null_server_has_no_effect() {
    let (none, mut size, mut call) = (ptr::null_mut(), 1, ptr::null_mut());
    let mut event = mcp_event_t::EMPTY;
    unsafe {
        assert_eq!(mcp_server_poll(none, 0, &mut event), MCP_EVENT_CLOSED);
        assert_eq!((mcp_server_output(none, &mut size).is_null(), size), (false, 0));
        assert_eq!((mcp_server_input(none, &mut size).is_null(), size), (false, 0));
        assert_eq!(mcp_server_feed(none, b"\n".as_ptr(), 1), 0);
        assert_eq!(mcp_server_consumed(none, 0), MCP_ERROR_NULL);
        assert_eq!(mcp_server_filled(none, 0), MCP_ERROR_NULL);
        assert_eq!(mcp_server_resume(none, 1, &mut call), MCP_ERROR_NULL);
        assert_eq!(mcp_server_lend_slots(none, lend(1), 1, lend(64), 64), MCP_ERROR_NULL);
        mcp_server_end_of_input(none);
        mcp_server_reset(none);
    }
    assert_eq!(event.kind, MCP_EVENT_CLOSED);
}

#[test]
fn end_of_input_closes_the_server() {
    let mut program = Program::new();
    assert_eq!(program.run(), MCP_EVENT_IO);
    let mut size = 0;
    let space = unsafe { mcp_server_input(program.server, &mut size) };
    assert!(size >= 1);
    unsafe { space.write(b'\n') };
    unsafe { mcp_server_filled(program.server, 1) };
    assert_eq!(program.run(), MCP_EVENT_IO);
    unsafe { mcp_server_end_of_input(program.server) };
    assert_eq!(program.run(), MCP_EVENT_CLOSED);
}

#[test]
fn end_of_input_in_the_poll_of_a_feed_closes_the_server() {
    let mut program = Program::new();
    for expected in [MCP_EVENT_CLOSED, MCP_EVENT_IO] {
        assert_eq!(program.run(), MCP_EVENT_IO);
        assert_eq!(unsafe { mcp_server_feed(program.server, b"\n".as_ptr(), 1) }, 1);
        unsafe { mcp_server_end_of_input(program.server) };
        if expected == MCP_EVENT_IO {
            unsafe { mcp_server_reset(program.server) };
        }
        assert_eq!(program.run(), expected);
        unsafe { mcp_server_reset(program.server) };
    }
}

#[test]
fn bytes_are_reported_once_and_before_another_function() {
    let mut program = Program::new();
    let (server, mut size) = (program.server, 0);
    program.calls(1, "");
    assert_eq!(unsafe { mcp_call_text(program.event.call, c"hi".as_ptr()) }, MCP_OK);
    assert_eq!(unsafe { mcp_server_consumed(server, 1) }, MCP_ERROR_SEQUENCE);
    assert_eq!(program.poll(), MCP_EVENT_IO);
    unsafe { mcp_server_output(server, &mut size) };
    let unsent = size;
    assert_eq!(program.resume(MCP_NO_TICKET).0, MCP_ERROR_GONE);
    assert_eq!(unsafe { mcp_server_consumed(server, unsent) }, MCP_ERROR_SEQUENCE);
    assert_eq!(unsafe { mcp_server_filled(server, 1) }, MCP_ERROR_SEQUENCE);
    assert_eq!(program.poll(), MCP_EVENT_IO);
    unsafe { mcp_server_output(server, &mut size) };
    assert_eq!(size, unsent);
    for expected in [MCP_OK, MCP_ERROR_SEQUENCE] {
        assert_eq!(unsafe { mcp_server_consumed(server, size) }, expected);
        assert_eq!(unsafe { mcp_server_filled(server, 0) }, expected);
    }
}

#[test]
fn resume_with_an_open_request_has_no_effect() {
    let mut program = Program::new();
    program.calls(1, "");
    let (_, ticket) = program.defer();
    program.calls(2, "");
    assert_eq!(program.resume(ticket).0, MCP_ERROR_SEQUENCE);
    assert_eq!(unsafe { mcp_call_text(program.event.call, c"two".as_ptr()) }, MCP_OK);
    assert!(program.last_line().contains("two"));
    assert_eq!(program.resume(ticket).0, MCP_OK);
}

#[test]
fn values_are_read_by_their_path() {
    let json = concat!(
        r#"{"a":[{"b":-7},1.25],"s":"\u00e4\n","t":true,"n":null,"big":9223372036854775808,"#,
        r#""whole":[5.0,1e2,-10.50E+1,-0.0e9,-9223372036854775808.0,0.0000000000000000000001e22],"#,
        r#""part":[5.5,1e-1,1.00000000000000000000001,9223372036854775808e0]}"#,
    );
    let json = mcp_text_t::new(json);
    let path = |path: &str| CString::new(path).unwrap();
    for (at, expected) in [
        ("a.0.b", Ok(-7)),
        ("a.1", Err(MCP_ERROR_TYPE)),
        ("a.2", Err(MCP_ERROR_MISSING)),
        ("a.x", Err(MCP_ERROR_MISSING)),
        ("s.0", Err(MCP_ERROR_MISSING)),
        ("n", Err(MCP_ERROR_MISSING)),
        ("big", Err(MCP_ERROR_TYPE)),
        ("", Err(MCP_ERROR_TYPE)),
        ("whole.0", Ok(5)),
        ("whole.1", Ok(100)),
        ("whole.2", Ok(-105)),
        ("whole.3", Ok(0)),
        ("whole.4", Ok(i64::MIN)),
        ("whole.5", Ok(1)),
        ("part.0", Err(MCP_ERROR_TYPE)),
        ("part.1", Err(MCP_ERROR_TYPE)),
        ("part.2", Err(MCP_ERROR_TYPE)),
        ("part.3", Err(MCP_ERROR_TYPE)),
    ] {
        let mut value = 0;
        let status = unsafe { mcp_json_int(json, path(at).as_ptr(), &mut value) };
        assert_eq!(if status == MCP_OK { Ok(value) } else { Err(status) }, expected, "{at}");
    }
    for (at, digits, expected) in
        [("a.1", 1, Ok(12)), ("a.1", 3, Ok(1250)), ("a.0.b", 0, Ok(-7)), ("a.0.b", 19, Err(MCP_ERROR_TYPE))]
    {
        let mut value = 0;
        let status = unsafe { mcp_json_fixed(json, path(at).as_ptr(), digits, &mut value) };
        assert_eq!(if status == MCP_OK { Ok(value) } else { Err(status) }, expected, "{at} {digits}");
    }
    let (mut boolean, mut found) = (false, mcp_text_t::EMPTY);
    assert_eq!(unsafe { mcp_json_bool(json, path("t").as_ptr(), &mut boolean) }, MCP_OK);
    assert!(boolean);
    assert_eq!(unsafe { mcp_json_get(json, path("a.0").as_ptr(), &mut found) }, MCP_OK);
    assert_eq!(text_of(found), r#"{"b":-7}"#);
    assert_eq!(unsafe { mcp_json_get(json, ptr::null(), &mut found) }, MCP_ERROR_NULL);
    for (size, expected) in [(0, MCP_ERROR_SPACE), (3, MCP_ERROR_SPACE), (4, MCP_OK)] {
        let (mut buffer, mut length) = ([c_char::MAX; 8], 0);
        let status =
            unsafe { mcp_json_string(json, path("s").as_ptr(), buffer.as_mut_ptr(), size, &mut length) };
        assert_eq!(status, expected, "{size}");
        if status == MCP_OK {
            assert_eq!((unsafe { CStr::from_ptr(buffer.as_ptr()) }, length), (c"ä\n", 3));
        }
    }
}

/// Each function that returns a status lists its errors, or names the function that lists them.
#[test]
fn functions_list_their_errors() {
    let header = include_str!("../include/mcp_proto.h");
    let functions = header.split("\n\n").filter(|item| item.contains("\nmcp_status_t mcp_"));
    let without = functions
        .filter(|item| !item.contains("// Errors: `MCP_ERROR_") && !item.contains("errors are those"));
    assert_eq!(without.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_status_has_a_text() {
    for status in -1..=MCP_ERROR_SEQUENCE as i32 + 1 {
        let text = unsafe { CStr::from_ptr(mcp_status_text(status)) };
        assert!(text.to_str().unwrap().len() > 1, "{status}");
    }
}
