//! Functions that respond to a request, defer its response, or report its progress: `mcp_call_…`, `mcp_read_…`.
//!
//! `mcp_read_…` is for requests to read a resource. `mcp_call_error`, `mcp_call_progress` and `mcp_call_defer` are for
//! any request, and the other functions `mcp_call_…` only for tool calls.
//!
//! A handle is a `mcp_call_t *`: a pointer to the current request of a server. Each response consumes the request, so a
//! second response fails with `MCP_ERROR_GONE`.
#![allow(unsafe_code)]

use core::ffi::c_char;

use mcp_proto::Millis;
use mcp_proto::json::Writer;
use mcp_proto::server::Contents;

use crate::event::{MCP_NO_TICKET, mcp_call_t};
use crate::memory::{check_not_null, optional_string, slice, string, write};
use crate::request::Current;
use crate::status::mcp_status_t;
use crate::table::mcp_resource_t;

/// Returns the request of a handle.
///
/// # Errors
/// `MCP_ERROR_NULL`: the handle is NULL.
///
/// # Safety
/// `call` is NULL, or the handle of the current request. The calling function does not keep the reference after
/// returning.
unsafe fn request<'a>(call: *mut mcp_call_t) -> Result<&'a mut Current<'static>, mcp_status_t> {
    // SAFETY: a handle is a pointer to the current request, which nothing else refers to.
    unsafe { call.cast::<Current<'static>>().as_mut() }.ok_or(mcp_status_t::MCP_ERROR_NULL)
}

/// Passes the request and the text to `respond`, and returns the status.
///
/// # Safety
/// `call` is NULL, or the handle of the current request. `text` is NULL or a string.
unsafe fn respond_with(
    call: *mut mcp_call_t,
    text: *const c_char,
    respond: fn(&mut Current<'static>, &str) -> Result<(), mcp_status_t>,
) -> mcp_status_t {
    // SAFETY: the caller promises that `call` is a handle or NULL, and `text` a string or NULL.
    let (call, text) = unsafe { (request(call), string(text)) };
    call.and_then(|call| respond(call, text?)).into()
}

/// Responds to a tool call with text.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `text` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_text(call: *mut mcp_call_t, text: *const c_char) -> mcp_status_t {
    let respond = |call: &mut Current<'static>, text: &str| {
        call.respond(|call| call.text(text), |reply| reply.text(text))
    };
    // SAFETY: the caller promises a handle and a string.
    unsafe { respond_with(call, text, respond) }
}

/// Responds to a tool call with a failure (`isError`) as text for the model.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `text` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_fail(call: *mut mcp_call_t, text: *const c_char) -> mcp_status_t {
    let respond = |call: &mut Current<'static>, text: &str| {
        call.respond(|call| call.fail(text), |reply| reply.fail(text))
    };
    // SAFETY: the caller promises a handle and a string.
    unsafe { respond_with(call, text, respond) }
}

/// Responds to a tool call whose arguments are not valid. `text` contains the reason.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `text` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_invalid(call: *mut mcp_call_t, text: *const c_char) -> mcp_status_t {
    let respond = |call: &mut Current<'static>, text: &str| {
        call.respond(|call| call.invalid(text), |reply| reply.invalid(text))
    };
    // SAFETY: the caller promises a handle and a string.
    unsafe { respond_with(call, text, respond) }
}

/// Responds to a tool call with structured content, and repeats the content as text. `json` is one JSON value.
///
/// If `json` is not valid JSON, the server responds with an error, and an event `MCP_EVENT_PROTOCOL_ERROR` follows. In
/// revisions before 2026-07-28, structured content must be an object: the response contains any other value only as
/// text. In revisions before 2025-06-18, the response contains every value only as text.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `json` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_json(call: *mut mcp_call_t, json: *const c_char) -> mcp_status_t {
    let respond = |call: &mut Current<'static>, json: &str| {
        // The writer records an error, so the result of `raw` is not needed.
        let body = |out: &mut Writer<'_>| _ = out.raw(json);
        call.respond(|call| call.structured_with(body), |reply| reply.structured_with(body))
    };
    // SAFETY: the caller promises a handle and a string.
    unsafe { respond_with(call, json, respond) }
}

/// Responds to any request with a JSON-RPC error. Choose codes outside of -32768 to -32000.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `message` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_error(
    call: *mut mcp_call_t,
    code: i32,
    message: *const c_char,
) -> mcp_status_t {
    // SAFETY: the caller promises a handle and a string.
    let (call, message) = unsafe { (request(call), string(message)) };
    call.and_then(|call| call.error(code, message?)).into()
}

/// Sends progress of any request. `progress` must be larger than in the previous report of the request. Pass 0 as
/// `total` if the total is unknown. `message` may be NULL.
///
/// Errors: `MCP_ERROR_NOT_WANTED` if the client did not request progress, the progress token of a deferred request did
/// not fit into its slot, or `progress` has not increased; `MCP_ERROR_UNWRITABLE` if the transmit buffer has no space
/// besides the space that is reserved for the response; `MCP_ERROR_GONE` if the request has a response, or was deferred
/// with this handle. For a deferred request, `mcp_server_resume` returns a new handle. Except after `MCP_ERROR_GONE`,
/// the request stays open.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `message` is a string or
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_progress(
    call: *mut mcp_call_t,
    progress: i64,
    total: i64,
    message: *const c_char,
) -> mcp_status_t {
    // SAFETY: the caller promises that `call` is a handle, and `message` a string or NULL.
    let (call, message) = unsafe { (request(call), optional_string(message)) };
    let sent = call.and_then(|call| {
        let total = (total != 0).then_some(total);
        Ok(call.progress(progress, total, message?.unwrap_or_default())?)
    });
    sent.into()
}

/// Defers the response to any request, and writes the ticket of the request to `ticket`. For the response,
/// `mcp_server_resume` returns a handle for this ticket.
///
/// `timeout` is in milliseconds; 0 is the default of one minute. When the timeout expires, the server responds with an
/// error, and emits the event `MCP_EVENT_EXPIRED`. If this function returns an error, `ticket` is `MCP_NO_TICKET`.
///
/// Errors: `MCP_ERROR_FULL` if no slot is free, or the id of the request does not fit into a slot. The request then
/// stays open, and needs a response before the next poll. `MCP_ERROR_GONE` if the request is deferred already, or has a
/// response.
///
/// # Safety
/// `call` is the handle of the current event. `ticket` points to a ticket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_call_defer(
    call: *mut mcp_call_t,
    timeout: u64,
    ticket: *mut u64,
) -> mcp_status_t {
    let timeout = (timeout != 0).then_some(Millis(timeout));
    // SAFETY: the caller promises a handle.
    let call = check_not_null(ticket).and_then(|()| unsafe { request(call) });
    let deferred = call.and_then(|call| call.defer(timeout));
    // SAFETY: the caller promises space for a ticket.
    unsafe { write(ticket, deferred.unwrap_or(MCP_NO_TICKET)) };
    mcp_status_t::from(deferred.map(|_| ()))
}

/// Responds with text to a request to read a resource. `resource` is the table entry at the `index` of the event
/// `MCP_EVENT_READ`.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `resource` is an entry
/// of the table. `text` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_read_text(
    call: *mut mcp_call_t,
    resource: *const mcp_resource_t,
    text: *const c_char,
) -> mcp_status_t {
    // SAFETY: the caller promises an entry of the table and a string.
    let (resource, text) = unsafe { (entry(resource), string(text)) };
    let read = resource.and_then(|(uri, mime_type)| {
        let text = text?;
        // SAFETY: the caller promises a handle.
        unsafe { read(call, |contents| contents.text(uri, mime_type, text)) }
    });
    read.into()
}

/// Responds with bytes to a request to read a resource. `resource` is the table entry at the `index` of the event
/// `MCP_EVENT_READ`.
///
/// Errors: `MCP_ERROR_GONE`: see `mcp_call_t`.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`. `resource` is an entry
/// of the table. `bytes` points to `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_read_blob(
    call: *mut mcp_call_t,
    resource: *const mcp_resource_t,
    bytes: *const u8,
    count: usize,
) -> mcp_status_t {
    // SAFETY: the caller promises an entry of the table, and `count` bytes.
    let (resource, bytes) = unsafe { (entry(resource), slice(bytes, count)) };
    let read = resource.and_then(|(uri, mime_type)| {
        let bytes = bytes?;
        // SAFETY: the caller promises a handle.
        unsafe { read(call, |contents| contents.blob(uri, mime_type, bytes)) }
    });
    read.into()
}

/// Returns the URI and the media type of an entry of the table of resources.
///
/// # Errors
/// `MCP_ERROR_NULL`: the entry or its URI is NULL. `MCP_ERROR_UTF8`: a text is not UTF-8.
///
/// # Safety
/// `resource` is NULL, or an entry of the table.
unsafe fn entry<'a>(resource: *const mcp_resource_t) -> Result<(&'a str, Option<&'a str>), mcp_status_t> {
    // SAFETY: the caller promises a valid pointer or NULL.
    let resource = unsafe { resource.as_ref() }.ok_or(mcp_status_t::MCP_ERROR_NULL)?;
    // SAFETY: the entry is in the table of the configuration, whose texts are valid.
    unsafe { Ok((string(resource.uri)?, optional_string(resource.mime_type)?)) }
}

/// Responds to a request to read a resource. `body` adds the contents.
///
/// # Safety
/// `call` is the handle of the current event, or the handle from the last `mcp_server_resume`.
unsafe fn read(call: *mut mcp_call_t, body: impl Fn(&mut Contents<'_, '_>)) -> Result<(), mcp_status_t> {
    // SAFETY: the caller promises a handle.
    let call = unsafe { request(call) }?;
    call.respond_to_read(|request| request.contents(&body), |reply| reply.contents(&body))
}
