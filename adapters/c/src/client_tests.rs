//! Tests of the client functions, with calls like those of a C program. Miri also runs the tests.
#![allow(unsafe_code, clippy::unwrap_used, clippy::indexing_slicing, clippy::undocumented_unsafe_blocks)]

use core::ptr;

use crate::client::*;
use crate::client_event::mcp_client_event_kind_t::{self, *};
use crate::client_event::mcp_client_event_t;
use crate::client_event::mcp_failure_t::*;
use crate::client_request::*;
use crate::event::MCP_NO_TICKET;
use crate::status::mcp_status_t::*;
use crate::tests::{lend, text_of};

struct Program {
    client: *mut mcp_client_t,
    event: mcp_client_event_t,
    now: u64,
    written: String,
}

impl Program {
    fn new(connect: i32) -> Program {
        let client = lend(1);
        let config = config(connect);
        let (rx, tx) = (lend::<u8>(1024), lend::<u8>(1024));
        assert_eq!(unsafe { mcp_client_init(client, &config, rx, 1024, tx, 1024) }, MCP_OK);
        assert_eq!(
            unsafe { mcp_client_lend_slots(client, ptr::null_mut(), 1, lend(16), 16) },
            MCP_ERROR_NULL
        );
        assert_eq!(unsafe { mcp_client_lend_slots(client, lend(1), 1, ptr::null_mut(), 16) }, MCP_ERROR_NULL);
        assert_eq!(unsafe { mcp_client_lend_slots(client, lend(1), 1, lend(16), 16) }, MCP_OK);
        let event = mcp_client_event_t::EMPTY;
        Program { client, event, now: 0, written: String::new() }
    }

    /// Creates a connected client.
    fn connected() -> Program {
        let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}"#;
        Program::connected_with(MCP_CONNECT_HANDSHAKE, result)
    }

    /// Creates a client, and connects it with a server whose first response has this result.
    fn connected_with(connect: i32, result: &str) -> Program {
        let mut program = Program::new(connect);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, program.id());
        program.hears(&line, MCP_CLIENT_CONNECTED);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        program.written.clear();
        program
    }

    /// Polls and writes output, until the client waits for input or has an event.
    fn run(&mut self) -> mcp_client_event_kind_t {
        loop {
            let kind = unsafe { mcp_client_poll(self.client, self.now, &mut self.event) };
            assert_eq!(kind, self.event.kind);
            let mut length = 0;
            let output = unsafe { mcp_client_output(self.client, &mut length) };
            if kind != MCP_CLIENT_IO || length == 0 {
                return kind;
            }
            let output = unsafe { std::slice::from_raw_parts(output, length) };
            self.written.push_str(std::str::from_utf8(output).unwrap());
            unsafe { mcp_client_consumed(self.client, length) };
        }
    }

    /// Writes a line into the client's space for received bytes, and checks the kind of the next event.
    fn hears(&mut self, line: &str, expected: mcp_client_event_kind_t) {
        assert_eq!(self.run(), MCP_CLIENT_IO, "{line}");
        let (line, mut size) = (format!("{line}\n"), 0);
        unsafe {
            let space = mcp_client_input(self.client, &mut size);
            assert!(size >= line.len());
            space.copy_from(line.as_ptr(), line.len());
            mcp_client_filled(self.client, line.len());
        }
        assert_eq!(self.run(), expected, "{line}");
    }

    /// Returns the id of the first request in `written`, and clears `written`.
    fn id(&mut self) -> String {
        let written = std::mem::take(&mut self.written);
        written.split_once(r#""id":"#).unwrap().1.split(',').next().unwrap().to_owned()
    }

    fn calls(&mut self) -> u64 {
        let (mut ticket, arguments) = (0, c"{\"a\":1}".as_ptr());
        let status =
            unsafe { mcp_client_call_tool(self.client, c"add".as_ptr(), arguments, 100, &mut ticket) };
        assert_eq!((status, ticket == MCP_NO_TICKET), (MCP_OK, false));
        assert_eq!(self.run(), MCP_CLIENT_IO);
        assert!(self.written.contains(r#""name":"add","arguments":{"a":1}"#), "{}", self.written);
        ticket
    }
}

fn config(connect: i32) -> mcp_client_config_t {
    mcp_client_config_t { name: c"c".as_ptr(), version: c"1".as_ptr(), connect }
}

#[test]
fn client_configuration_is_checked() {
    let unnamed = mcp_client_config_t { name: ptr::null(), ..config(MCP_CONNECT_AUTOMATIC) };
    for (config, rx, tx, expected) in [
        (config(MCP_CONNECT_AUTOMATIC), 1024, 1024, MCP_OK),
        (config(MCP_CONNECT_STATELESS), 1024, 1024, MCP_OK),
        (config(3), 1024, 1024, MCP_ERROR_CONFIG),
        (unnamed, 1024, 1024, MCP_ERROR_NULL),
        (config(MCP_CONNECT_AUTOMATIC), 16, 1024, MCP_ERROR_RX_TOO_SMALL),
        (config(MCP_CONNECT_AUTOMATIC), 1024, 16, MCP_ERROR_TX_TOO_SMALL),
    ] {
        let status = unsafe { mcp_client_init(lend(1), &config, lend(rx), rx, lend(tx), tx) };
        assert_eq!(status, expected, "{} {rx} {tx}", config.connect);
    }
}

#[test]
fn requests_that_cannot_be_sent_are_refused() {
    let call = |program: &Program, arguments: &core::ffi::CStr| {
        let mut ticket = 1;
        let arguments = arguments.as_ptr();
        let status =
            unsafe { mcp_client_call_tool(program.client, c"add".as_ptr(), arguments, 0, &mut ticket) };
        assert_eq!(ticket == MCP_NO_TICKET, status != MCP_OK);
        status
    };
    assert_eq!(call(&Program::new(MCP_CONNECT_HANDSHAKE), c"{}"), MCP_ERROR_NOT_CONNECTED);
    let program = Program::connected();
    assert_eq!(call(&program, c"{"), MCP_ERROR_UNWRITABLE);
    assert_eq!(call(&program, c"\xFF"), MCP_ERROR_UTF8);
    let (client, name) = (program.client, c"add".as_ptr());
    let status = unsafe { mcp_client_call_tool(client, name, ptr::null(), 0, ptr::null_mut()) };
    assert_eq!(status, MCP_ERROR_NULL);
    assert_eq!(unsafe { mcp_client_read_resource(client, name, 0, ptr::null_mut()) }, MCP_ERROR_NULL);
    assert_eq!(call(&program, c"{}"), MCP_OK);
    assert_eq!(call(&program, c"{}"), MCP_ERROR_FULL);
}

#[test]
fn call_ends_with_a_result_an_error_or_a_timeout() {
    let mut program = Program::connected();
    let ticket = program.calls();
    let id = program.id();
    let params = format!(r#"{{"progressToken":{id},"progress":1}}"#);
    let line = format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
    program.hears(&line, MCP_CLIENT_PROGRESS);
    assert_eq!((program.event.ticket, text_of(program.event.json)), (ticket, params.as_str()));
    let result = r#"{"content":[{"type":"text","text":"3"}]}"#;
    program.hears(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#), MCP_CLIENT_RESULT);
    assert_eq!((program.event.ticket, text_of(program.event.json)), (ticket, result));

    let ticket = program.calls();
    for (code, expected) in [("-32602", -32602), ("99999999999", i32::MAX)] {
        let ticket = if code == "-32602" { ticket } else { program.calls() };
        let error = format!(r#"{{"code":{code},"message":"no"}}"#);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, program.id());
        program.hears(&line, MCP_CLIENT_ERROR);
        assert_eq!((program.event.ticket, program.event.code), (ticket, expected));
        assert_eq!(text_of(program.event.json), error);
    }

    let ticket = program.calls();
    program.now += 100;
    assert_eq!(program.run(), MCP_CLIENT_FAILED);
    assert_eq!((program.event.ticket, program.event.failure), (ticket, MCP_FAILURE_TIMED_OUT));

    program.written.clear();
    let ticket = program.calls();
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":1}}"#, program.id());
    program.hears(&line, MCP_CLIENT_FAILED);
    assert_eq!((program.event.ticket, program.event.failure), (ticket, MCP_FAILURE_INVALID));
}

#[test]
fn failed_connection_has_its_reason() {
    let error = r#"{"code":-1,"message":"no"}"#;
    let old = r#"{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    for (response, failure, code, json) in [
        (format!(r#""error":{error}"#), MCP_FAILURE_REFUSED, -1, error),
        (r#""result":1"#.to_owned(), MCP_FAILURE_INVALID, 0, ""),
        (format!(r#""result":{old}"#), MCP_FAILURE_NO_REVISION, 0, ""),
    ] {
        let mut program = Program::new(MCP_CONNECT_HANDSHAKE);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},{response}}}"#, program.id());
        program.hears(&line, MCP_CLIENT_CONNECT_FAILED);
        assert_eq!((program.event.failure, program.event.code), (failure, code));
        assert_eq!(text_of(program.event.json), json);
    }
    let mut program = Program::new(MCP_CONNECT_HANDSHAKE);
    assert_eq!(program.run(), MCP_CLIENT_IO);
    unsafe { mcp_client_end_of_input(program.client) };
    assert_eq!(program.run(), MCP_CLIENT_CONNECT_FAILED);
    assert_eq!(program.event.failure, MCP_FAILURE_CLOSED);
}

#[test]
fn reset_client_connects_again() {
    let mut program = Program::connected();
    let old = program.calls();
    unsafe { mcp_client_end_of_input(program.client) };
    unsafe { mcp_client_reset(program.client) };
    program.written.clear();
    assert_eq!(program.run(), MCP_CLIENT_IO);
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, program.id());
    program.hears(&line, MCP_CLIENT_CONNECTED);
    assert_eq!(unsafe { mcp_client_cancel(program.client, old) }, MCP_ERROR_GONE);
    assert_ne!(program.calls(), old);
}

#[test]
fn null_client_has_no_effect() {
    let (none, mut size, mut ticket, name) = (ptr::null_mut(), 1, 1, c"add".as_ptr());
    let mut event = mcp_client_event_t::EMPTY;
    unsafe {
        assert_eq!(mcp_client_poll(none, 0, &mut event), MCP_CLIENT_CLOSED);
        assert_eq!((mcp_client_output(none, &mut size).is_null(), size), (false, 0));
        assert_eq!((mcp_client_input(none, &mut size).is_null(), size), (false, 0));
        assert_eq!(mcp_client_feed(none, b"\n".as_ptr(), 1), 0);
        assert_eq!(mcp_client_consumed(none, 0), MCP_ERROR_NULL);
        assert_eq!(mcp_client_filled(none, 0), MCP_ERROR_NULL);
        assert_eq!(mcp_client_lend_slots(none, lend(1), 1, lend(16), 16), MCP_ERROR_NULL);
        assert_eq!(mcp_client_call_tool(none, name, ptr::null(), 0, &mut ticket), MCP_ERROR_NULL);
        assert_eq!(mcp_client_read_resource(none, name, 0, &mut ticket), MCP_ERROR_NULL);
        assert_eq!(mcp_client_resume_tool(none, 1, name, ptr::null()), MCP_ERROR_NULL);
        assert_eq!(mcp_client_resume_resource(none, 1, name), MCP_ERROR_NULL);
        assert_eq!(mcp_client_cancel(none, 1), MCP_ERROR_NULL);
        mcp_client_end_of_input(none);
        mcp_client_shutdown(none, 0);
        mcp_client_reset(none);
    }
    assert_eq!((event.kind, ticket), (MCP_CLIENT_CLOSED, MCP_NO_TICKET));
}

#[test]
fn request_is_sent_again_with_the_state_of_the_server() {
    let discovered = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
    let mut program = Program::connected_with(MCP_CONNECT_STATELESS, discovered);
    let required = r#"{"resultType":"input_required","requestState":"later"}"#;
    let tool = program.calls();
    let mut resource = 0;
    let (name, arguments, uri) = (c"add".as_ptr(), c"{\"a\":2}".as_ptr(), c"a:b".as_ptr());
    unsafe {
        let client = program.client;
        assert_eq!(mcp_client_resume_tool(client, tool, name, arguments), MCP_ERROR_GONE);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{required}}}"#, program.id());
        program.hears(&line, MCP_CLIENT_INPUT_REQUIRED);
        assert_eq!((program.event.ticket, text_of(program.event.json)), (tool, required));
        assert_eq!(mcp_client_resume_tool(client, tool, name, c"[".as_ptr()), MCP_ERROR_UNWRITABLE);
        assert_eq!(mcp_client_resume_resource(client, tool, uri), MCP_ERROR_UNWRITABLE);
        assert_eq!(mcp_client_resume_tool(client, tool, name, arguments), MCP_OK);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        let params = r#""name":"add","arguments":{"a":2},"requestState":"later""#;
        assert!(program.written.contains(params), "{}", program.written);
        assert_eq!(mcp_client_cancel(client, tool), MCP_OK);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        program.written.clear();

        assert_eq!(mcp_client_read_resource(client, uri, 0, &mut resource), MCP_OK);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{required}}}"#, program.id());
        program.hears(&line, MCP_CLIENT_INPUT_REQUIRED);
        assert_eq!(mcp_client_resume_tool(client, resource, name, arguments), MCP_ERROR_UNWRITABLE);
        assert_eq!(mcp_client_resume_resource(client, resource, uri), MCP_OK);
        assert_eq!(program.run(), MCP_CLIENT_IO);
        let params = r#""uri":"a:b","requestState":"later""#;
        assert!(program.written.contains(params), "{}", program.written);

        // The state does not fit: with its quotes, it has 17 bytes, and the slot has 16.
        let required = r#"{"resultType":"input_required","requestState":"123456789012345"}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{required}}}"#, program.id());
        program.hears(&line, MCP_CLIENT_FAILED);
        assert_eq!(program.event.ticket, resource);
    }
}

#[test]
fn request_is_not_sent_again_while_the_connection_ends() {
    let discovered = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
    let mut program = Program::connected_with(MCP_CONNECT_STATELESS, discovered);
    let ticket = program.calls();
    let id = program.id();
    let required = r#"{"resultType":"input_required","requestState":"later"}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{required}}}"#);
    program.hears(&line, MCP_CLIENT_INPUT_REQUIRED);
    unsafe {
        mcp_client_shutdown(program.client, 0);
        let status = mcp_client_resume_tool(program.client, ticket, c"add".as_ptr(), ptr::null());
        assert_eq!(status, MCP_ERROR_NOT_CONNECTED);
    }
}

#[test]
fn cancelled_request_has_no_event() {
    let mut program = Program::connected();
    let ticket = program.calls();
    assert_eq!(unsafe { mcp_client_cancel(program.client, ticket) }, MCP_OK);
    assert_eq!(unsafe { mcp_client_cancel(program.client, ticket) }, MCP_ERROR_GONE);
    program.now += 1000;
    assert_eq!(program.run(), MCP_CLIENT_IO);
    assert!(program.written.contains("notifications/cancelled"), "{}", program.written);
}

#[test]
fn end_of_input_fails_requests() {
    let (mut program, mut ticket) = (Program::connected(), 0);
    let status = unsafe { mcp_client_read_resource(program.client, c"a:b".as_ptr(), 0, &mut ticket) };
    assert_eq!(status, MCP_OK);
    assert_eq!(program.run(), MCP_CLIENT_IO);
    assert!(program.written.contains(r#""uri":"a:b""#), "{}", program.written);
    unsafe { mcp_client_end_of_input(program.client) };
    assert_eq!(program.run(), MCP_CLIENT_FAILED);
    assert_eq!(program.event.ticket, ticket);
    assert_eq!(program.run(), MCP_CLIENT_CLOSED);
}

#[test]
fn end_of_input_in_the_poll_of_a_feed_fails_requests() {
    let mut program = Program::connected();
    let ticket = program.calls();
    assert_eq!(unsafe { mcp_client_feed(program.client, b"\n".as_ptr(), 1) }, 1);
    unsafe { mcp_client_end_of_input(program.client) };
    assert_eq!(program.run(), MCP_CLIENT_FAILED);
    assert_eq!(program.event.ticket, ticket);
    assert_eq!(program.run(), MCP_CLIENT_CLOSED);
}

#[test]
fn bytes_are_reported_once_and_before_another_request() {
    let program = Program::connected();
    let (client, mut event, mut size) = (program.client, mcp_client_event_t::EMPTY, 0);
    let (mut ticket, name) = (MCP_NO_TICKET, c"add".as_ptr());
    unsafe {
        assert_eq!(mcp_client_call_tool(client, name, ptr::null(), 0, &mut ticket), MCP_OK);
        assert_eq!(mcp_client_poll(client, 0, &mut event), MCP_CLIENT_IO);
        mcp_client_output(client, &mut size);
        let unsent = size;
        assert_eq!(mcp_client_call_tool(client, name, ptr::null(), 0, &mut ticket), MCP_ERROR_FULL);
        assert_eq!(mcp_client_consumed(client, unsent), MCP_ERROR_SEQUENCE);
        assert_eq!(mcp_client_filled(client, 1), MCP_ERROR_SEQUENCE);
        assert_eq!(mcp_client_poll(client, 0, &mut event), MCP_CLIENT_IO);
        mcp_client_output(client, &mut size);
        assert_eq!(size, unsent);
        for expected in [MCP_OK, MCP_ERROR_SEQUENCE] {
            assert_eq!(mcp_client_consumed(client, size), expected);
            assert_eq!(mcp_client_filled(client, 0), expected);
        }
    }
}

#[test]
fn shutdown_closes_the_connection() {
    let mut program = Program::connected();
    unsafe { mcp_client_shutdown(program.client, 0) };
    assert_eq!(program.run(), MCP_CLIENT_CLOSED);
    assert_eq!(unsafe { mcp_client_feed(program.client, b"{".as_ptr(), 1) }, 0);
}
