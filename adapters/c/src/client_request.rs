//! Functions that send the requests of a client, such as `mcp_client_call_tool`.
#![allow(unsafe_code)]

use core::ffi::c_char;

use mcp_proto::client::Options;
use mcp_proto::{Millis, Ticket};

use crate::client::{machine, mcp_client_t};
use crate::event::MCP_NO_TICKET;
use crate::memory::{check_not_null, optional_string, string, write};
use crate::request::{from_c, to_c};
use crate::status::mcp_status_t;

/// Calls a tool, and writes the ticket of the request to `ticket`. `arguments` is the text of a JSON object, or NULL
/// for no arguments.
///
/// Unless the program cancels the request or resets the client, the request ends with an event `MCP_CLIENT_RESULT`,
/// `MCP_CLIENT_ERROR` or `MCP_CLIENT_FAILED` that has this ticket. `MCP_CLIENT_INPUT_REQUIRED` does not end the
/// request. `timeout` is in milliseconds; 0 is the default of one minute. Progress restarts the timeout, but the
/// request fails after ten minutes in total.
///
/// Errors: `MCP_ERROR_NOT_CONNECTED` before `MCP_CLIENT_CONNECTED`, and after the connection has begun to end;
/// `MCP_ERROR_UNSUPPORTED` if the server does not declare tools; `MCP_ERROR_FULL` if no slot is free; `MCP_ERROR_BUSY`
/// if the transmit buffer has too little space: try again after `MCP_CLIENT_WRITABLE`; `MCP_ERROR_UNWRITABLE` if the
/// request is too large for the transmit buffer (see `mcp_client_init`), or the arguments are not a JSON object. After
/// an error, `ticket` is `MCP_NO_TICKET`.
///
/// # Safety
/// `client` is initialized. `name` is a string. `arguments` is a string or NULL. `ticket` points to a ticket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_call_tool(
    client: *mut mcp_client_t,
    name: *const c_char,
    arguments: *const c_char,
    timeout: u64,
    ticket: *mut u64,
) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized. The caller promises that `name` is a string, and `arguments` a string
    // or NULL.
    let sent = check_not_null(ticket).and_then(|()| unsafe {
        let (client, name, arguments) = (machine(client)?, string(name)?, optional_string(arguments)?);
        Ok(client.call_json(name, arguments.unwrap_or("{}"), options(timeout).with_progress())?)
    });
    // SAFETY: the caller promises space for a ticket.
    unsafe { finish(sent, ticket) }
}

/// Reads a resource, and writes the ticket of the request to `ticket`. The result has the member `contents`.
///
/// The client requests no progress. The timeout, the other events and the errors are those of `mcp_client_call_tool`,
/// except that `MCP_ERROR_UNSUPPORTED` means that the server does not declare resources.
///
/// # Safety
/// `client` is initialized. `uri` is a string. `ticket` points to a ticket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_read_resource(
    client: *mut mcp_client_t,
    uri: *const c_char,
    timeout: u64,
    ticket: *mut u64,
) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized. The caller promises a string.
    let sent = check_not_null(ticket)
        .and_then(|()| unsafe { Ok(machine(client)?.read_resource(string(uri)?, options(timeout))?) });
    // SAFETY: the caller promises space for a ticket.
    unsafe { finish(sent, ticket) }
}

/// Sends a request of `mcp_client_call_tool` again, after `MCP_CLIENT_INPUT_REQUIRED`.
///
/// Pass the same name and arguments, because the client does not store them. The client adds the state that the server
/// sent. The ticket stays the same. The timeout starts again, but the total of ten minutes continues.
///
/// Errors: `MCP_ERROR_GONE` if the request has ended, or the server requires no input for it; `MCP_ERROR_NOT_CONNECTED`
/// after the connection has begun to end; `MCP_ERROR_BUSY` if the transmit buffer has too little space: try again after
/// `MCP_CLIENT_WRITABLE`; `MCP_ERROR_UNWRITABLE` if the request is no tool call, is larger than the transmit buffer, or
/// has arguments that are not a JSON object.
///
/// # Safety
/// `client` is initialized. `name` is a string. `arguments` is a string or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_resume_tool(
    client: *mut mcp_client_t,
    ticket: u64,
    name: *const c_char,
    arguments: *const c_char,
) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized. The caller promises that `name` is a string, and `arguments` a string
    // or NULL.
    let texts = unsafe {
        machine(client).and_then(|client| Ok((client, string(name)?, optional_string(arguments)?)))
    };
    let sent = texts.and_then(|(client, name, arguments)| {
        Ok(client.resume_call_json(from_c(ticket), name, arguments.unwrap_or("{}"), |_| {})?)
    });
    sent.into()
}

/// Sends a request of `mcp_client_read_resource` again, after `MCP_CLIENT_INPUT_REQUIRED`. Pass the same URI.
///
/// The errors are those of `mcp_client_resume_tool`, except that `MCP_ERROR_UNWRITABLE` means that the request does not
/// read a resource, or is larger than the transmit buffer.
///
/// # Safety
/// `client` is initialized. `uri` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_resume_resource(
    client: *mut mcp_client_t,
    ticket: u64,
    uri: *const c_char,
) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized. The caller promises a string.
    let texts = unsafe { machine(client).and_then(|client| Ok((client, string(uri)?))) };
    texts.and_then(|(client, uri)| Ok(client.resume_read(from_c(ticket), uri, |_| {})?)).into()
}

/// Cancels a request. The request has no further events. If the transmit buffer has too little space for the
/// cancellation, the client sends it later, and the request keeps its slot until then.
///
/// Errors: `MCP_ERROR_GONE` if the request has ended.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_cancel(client: *mut mcp_client_t, ticket: u64) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized.
    unsafe { machine(client) }.and_then(|client| Ok(client.cancel(from_c(ticket), "")?)).into()
}

fn options(timeout: u64) -> Options<'static> {
    if timeout == 0 { Options::DEFAULT } else { Options::DEFAULT.timeout(Millis(timeout)) }
}

/// Writes the ticket of the request, or `MCP_NO_TICKET` if the request was not sent. Returns the status.
///
/// # Safety
/// `ticket` is NULL, or points to space for a ticket.
unsafe fn finish(sent: Result<Ticket, mcp_status_t>, ticket: *mut u64) -> mcp_status_t {
    // SAFETY: the caller promises NULL or space for a ticket.
    unsafe { write(ticket, sent.map_or(MCP_NO_TICKET, to_c)) };
    mcp_status_t::from(sent.map(|_| ()))
}
