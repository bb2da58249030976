//! Functions of a client: `mcp_client_…`.
//!
//! The storage works like the storage of a server (`server.rs`). The client borrows the configuration, and the bytes to
//! move borrow the client. So no function creates a reference to the whole storage.
#![allow(unsafe_code)]

use core::ffi::c_char;
use core::mem;

use mcp_proto::client::{Client, ClientConfig, Connect, Options, Slot};
use mcp_proto::{Action, Millis, SendError, Ticket};

use crate::client_event::{mcp_client_event_kind_t, mcp_client_event_t, on_event};
use crate::event::MCP_NO_TICKET;
use crate::io::{Moves, deadline, end};
use crate::memory::{check_not_null, filled, optional_string, slice, string, write};
use crate::request::{from_c, to_c};
use crate::status::mcp_status_t;

/// The size of `mcp_client_t`, in words that have the size of a pointer. On bare metal, a client is smaller than on a
/// computer, because it has no buffers that grow.
#[cfg(target_os = "none")]
pub const MCP_CLIENT_WORDS: usize = 170;
/// The size of `mcp_client_t`, in words that have the size of a pointer.
#[cfg(not(target_os = "none"))]
pub const MCP_CLIENT_WORDS: usize = 340;

/// The size of `mcp_client_slot_t`, in words of 64 bits.
pub const MCP_CLIENT_SLOT_WORDS: usize = 8;

/// The client first tries 2026-07-28. If the server does not support this revision, or does not respond within three
/// seconds, the client starts the handshake of the earlier revisions.
pub const MCP_CONNECT_AUTOMATIC: i32 = 0;
/// The client connects only in 2026-07-28.
pub const MCP_CONNECT_STATELESS: i32 = 1;
/// The client connects only in the revisions with a handshake: up to 2025-11-25.
pub const MCP_CONNECT_HANDSHAKE: i32 = 2;

/// The storage of a client. The program must not copy or move the storage after `mcp_client_init`.
#[repr(C, align(8))]
pub struct mcp_client_t {
    /// Private.
    pub storage: [*mut core::ffi::c_void; MCP_CLIENT_WORDS],
}

/// The storage of a request in flight, without its text: see `mcp_client_lend_slots`.
#[repr(C)]
pub struct mcp_client_slot_t {
    /// Private.
    pub storage: [u64; MCP_CLIENT_SLOT_WORDS],
}

/// The configuration of a client. All texts are UTF-8, and stay valid and unchanged as long as the client is used.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mcp_client_config_t {
    /// The name of the client.
    pub name: *const c_char,
    /// The version of the client.
    pub version: *const c_char,
    /// One of `MCP_CONNECT_…`.
    pub connect: i32,
}

/// The content of a `mcp_client_t`.
struct Storage {
    config: ClientConfig<'static>,
    client: Client<'static>,
    moves: Moves<'static>,
    /// Whether a poll must still pass the end of the input to the client.
    ended: bool,
}

const _: () = assert!(size_of::<Storage>() <= size_of::<mcp_client_t>(), "MCP_CLIENT_WORDS is too small");
const _: () = assert!(align_of::<Storage>() <= align_of::<mcp_client_t>());
const _: () =
    assert!(size_of::<Slot>() <= size_of::<mcp_client_slot_t>(), "MCP_CLIENT_SLOT_WORDS is too small");
const _: () = assert!(align_of::<Slot>() <= align_of::<mcp_client_slot_t>());

/// Initializes a client. To send requests, the client also needs `mcp_client_lend_slots`.
///
/// The size of `rx` limits the length of a message from the server, and the size of `tx` the length of a message from
/// the client.
///
/// Errors: `MCP_ERROR_NULL`, `MCP_ERROR_UTF8` and `MCP_ERROR_CONFIG` for the configuration; `MCP_ERROR_NULL` also if
/// the client or a buffer is NULL; `MCP_ERROR_RX_TOO_SMALL`; `MCP_ERROR_TX_TOO_SMALL`. After an error, the program must
/// not use the client.
///
/// # Safety
/// All pointers are valid. The storage, the buffers, and the texts of the configuration stay valid as long as the
/// client is used. Only functions of the library use the storage and the buffers, except for the bytes of
/// `mcp_client_output` and the space of `mcp_client_input`. No two threads use one client at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_init(
    client: *mut mcp_client_t,
    config: *const mcp_client_config_t,
    rx: *mut u8,
    rx_size: usize,
    tx: *mut u8,
    tx_size: usize,
) -> mcp_status_t {
    // SAFETY: the caller promises buffers of these sizes, which only the library uses.
    match unsafe { (filled(rx, rx_size, 0), filled(tx, tx_size, 0)) } {
        // SAFETY: the caller promises what `init` requires.
        (Ok(rx), Ok(tx)) => unsafe { init(client.cast(), config, rx, tx) }.into(),
        _ => mcp_status_t::MCP_ERROR_NULL,
    }
}

/// Initializes the storage, field by field.
///
/// # Safety
/// The requirements of [`mcp_client_init`].
unsafe fn init(
    storage: *mut Storage,
    config: *const mcp_client_config_t,
    rx: &'static mut [u8],
    tx: &'static mut [u8],
) -> Result<(), mcp_status_t> {
    // SAFETY: the caller promises a valid pointer or NULL.
    let config =
        unsafe { config.as_ref() }.filter(|_| !storage.is_null()).ok_or(mcp_status_t::MCP_ERROR_NULL)?;
    let connect = match config.connect {
        MCP_CONNECT_AUTOMATIC => Connect::Automatic,
        MCP_CONNECT_STATELESS => Connect::Stateless,
        MCP_CONNECT_HANDSHAKE => Connect::Handshake,
        _ => return Err(mcp_status_t::MCP_ERROR_CONFIG),
    };
    // SAFETY: the caller promises valid texts.
    let (name, version) = unsafe { (string(config.name)?, string(config.version)?) };
    // SAFETY: the storage is valid, large enough and aligned. The configuration is written once and then only read.
    unsafe {
        (&raw mut (*storage).config).write(ClientConfig::new(name, version).connect(connect));
        (&raw mut (*storage).moves).write(Moves::default());
        (&raw mut (*storage).ended).write(false);
        (&raw mut (*storage).client).write(Client::new(&(*storage).config, rx, tx)?);
    }
    Ok(())
}

/// Overwrites the [`Moves`] of the last poll, which borrow the client, and returns the client.
///
/// # Safety
/// `client` points to an initialized client. The caller does not use the reference after the next call of a function
/// that takes the client.
unsafe fn machine(client: *mut mcp_client_t) -> &'static mut Client<'static> {
    let storage = client.cast::<Storage>();
    // SAFETY: the client is initialized. The old `Moves` are overwritten without being read or dropped.
    unsafe {
        (&raw mut (*storage).moves).write(Moves::default());
        &mut (*storage).client
    }
}

/// Returns the [`Moves`] of the last poll. They move no bytes if that poll did not return `MCP_CLIENT_IO`, or if
/// [`machine`] has overwritten them.
///
/// # Safety
/// `client` points to an initialized client. The calling function does not keep the reference after returning.
unsafe fn moves<'a>(client: *mut mcp_client_t) -> &'a mut Moves<'static> {
    // SAFETY: the client is initialized, and nothing else refers to the field `moves`.
    unsafe { &mut (*client.cast::<Storage>()).moves }
}

/// Returns the flag `ended`.
///
/// # Safety
/// `client` points to an initialized client. The calling function does not keep the reference after returning.
unsafe fn ended<'a>(client: *mut mcp_client_t) -> &'a mut bool {
    // SAFETY: the client is initialized, and nothing else refers to the field `ended`.
    unsafe { &mut (*client.cast::<Storage>()).ended }
}

/// Lends storage for requests in flight. Call this before the first poll.
///
/// Each slot gets an equal part of `text`. A part of 16 bytes is enough, unless the server requires input
/// (`MCP_CLIENT_INPUT_REQUIRED`). In this case, the client stores the server's `requestState` with its quotes in the
/// part. If the state does not fit, the request ends with `MCP_CLIENT_FAILED`.
///
/// Errors: `MCP_ERROR_NULL` for a NULL array whose size is not 0.
///
/// # Safety
/// `client` is initialized. The arrays stay valid as long as the client is used, and only the library uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_lend_slots(
    client: *mut mcp_client_t,
    slots: *mut mcp_client_slot_t,
    count: usize,
    text: *mut u8,
    text_size: usize,
) -> mcp_status_t {
    // SAFETY: the caller promises valid arrays. A slot of the core is not larger than a slot of C, so `count` of them
    // fit.
    let lent = unsafe { (filled(slots.cast::<Slot>(), count, Slot::EMPTY), filled(text, text_size, 0)) };
    let (Ok(slots), Ok(text)) = lent else { return mcp_status_t::MCP_ERROR_NULL };
    // SAFETY: the client is initialized. `read` moves the client out, and `write` moves the client back. `in_flight`
    // does not unwind.
    unsafe {
        let place: *mut Client<'static> = machine(client);
        place.write(place.read().in_flight(slots, text));
    }
    mcp_status_t::MCP_OK
}

/// Advances the client. Returns the kind of the event, and writes the whole event to `event`.
///
/// `now` is the time in milliseconds since a fixed moment, and never decreases. The first polls connect to the server.
///
/// # Safety
/// `client` is initialized. `event` points to an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_poll(
    client: *mut mcp_client_t,
    now: u64,
    event: *mut mcp_client_event_t,
) -> mcp_client_event_kind_t {
    let mut out = mcp_client_event_t::EMPTY;
    loop {
        // SAFETY: the client is initialized. The reference of the previous iteration has no later use.
        match unsafe { machine(client) }.poll(Millis(now)) {
            // SAFETY: the client is initialized.
            Action::Io(io) if mem::take(unsafe { ended(client) }) => {
                end(io);
                continue;
            }
            Action::Io(io) => {
                (out.kind, out.deadline) = (mcp_client_event_kind_t::MCP_CLIENT_IO, deadline(&io));
                // SAFETY: the client is initialized.
                unsafe { *moves(client) = Moves::new(io) };
            }
            Action::Closed => out.kind = mcp_client_event_kind_t::MCP_CLIENT_CLOSED,
            Action::Event => {
                // SAFETY: the client is initialized. The reference for `poll` has no later use.
                if let Some(event) = unsafe { machine(client) }.event() {
                    on_event(event, &mut out);
                }
            }
        }
        break;
    }
    // SAFETY: the caller promises space for an event.
    unsafe { write(event, out) };
    out.kind
}

/// Returns the bytes to send, and writes their number to `length`. Call this after `MCP_CLIENT_IO`.
///
/// Send the bytes and report their number before calling a function that takes the client but does not move bytes, such
/// as `mcp_client_call_tool`. Such a function may invalidate these bytes and the space of `mcp_client_input`, even if
/// the function fails.
///
/// # Safety
/// `client` is initialized. `length` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_output(client: *mut mcp_client_t, length: *mut usize) -> *const u8 {
    // SAFETY: the client is initialized.
    let output = unsafe { moves(client) }.output();
    // SAFETY: the caller promises space for the length.
    unsafe { write(length, output.len()) };
    output.as_ptr()
}

/// Reports that the first `count` bytes of the output were sent. Call this at most once after each poll.
///
/// Errors: `MCP_ERROR_SEQUENCE` if the last poll did not return `MCP_CLIENT_IO`, the program has already reported sent
/// bytes after this poll, or another function has made the bytes invalid. After this error, the next output contains
/// the bytes of the failed report again.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_consumed(client: *mut mcp_client_t, count: usize) -> mcp_status_t {
    // SAFETY: the client is initialized.
    unsafe { moves(client) }.consumed(count)
}

/// Passes received bytes to the client after `MCP_CLIENT_IO`. Call this at most once after each poll. Returns the
/// number of bytes that the client takes. Pass the remaining bytes after the next `MCP_CLIENT_IO`.
///
/// # Safety
/// `client` is initialized. `bytes` points to `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_feed(client: *mut mcp_client_t, bytes: *const u8, count: usize) -> usize {
    // SAFETY: the client is initialized. The caller promises `count` bytes.
    unsafe { moves(client).feed(slice(bytes, count).unwrap_or_default()) }
}

/// Returns the space for received bytes, and writes its size to `size`. This function is the alternative to
/// `mcp_client_feed`. Receive into this space, and report the number of bytes with `mcp_client_filled`. Do both before
/// calling a function that invalidates the space: see `mcp_client_output`.
///
/// # Safety
/// `client` is initialized. `size` points to a number. The program writes only into the space, and
/// only until `mcp_client_filled`, the next poll, or a function that invalidates the space.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_input(client: *mut mcp_client_t, size: *mut usize) -> *mut u8 {
    // SAFETY: the client is initialized.
    let input = unsafe { moves(client) }.input();
    // SAFETY: the caller promises space for the size.
    unsafe { write(size, input.len()) };
    input.as_mut_ptr()
}

/// Reports that `count` bytes were received into the space. Call this at most once after each poll.
///
/// Errors: `MCP_ERROR_SEQUENCE` if the last poll did not return `MCP_CLIENT_IO`, the program has already passed
/// received bytes after this poll, or another function has made the space invalid. The client then has not received
/// these bytes.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_filled(client: *mut mcp_client_t, count: usize) -> mcp_status_t {
    // SAFETY: the client is initialized.
    unsafe { moves(client) }.filled(count)
}

/// Reports the end of the input. The next polls handle the received messages and fail the requests in flight, and then
/// return `MCP_CLIENT_CLOSED` when the output is sent, or after two seconds.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_end_of_input(client: *mut mcp_client_t) {
    // SAFETY: the client is initialized.
    unsafe { *ended(client) = true };
}

/// Ends the connection. The next polls fail the requests in flight, and then return `MCP_CLIENT_CLOSED` when the output
/// is sent, or after two seconds.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_shutdown(client: *mut mcp_client_t, now: u64) {
    // SAFETY: the client is initialized.
    unsafe { machine(client) }.shutdown(Millis(now));
}

/// Calls a tool, and writes the ticket of the request to `ticket`. `arguments` is the text of a JSON object, or NULL
/// for no arguments.
///
/// Unless the program cancels the request, it ends with an event `MCP_CLIENT_RESULT`, `MCP_CLIENT_ERROR` or
/// `MCP_CLIENT_FAILED` that has this ticket. `MCP_CLIENT_INPUT_REQUIRED` does not end the request. `timeout` is in
/// milliseconds; 0 is the default of one minute. Progress restarts the timeout, but the request fails after ten minutes
/// in total.
///
/// Errors: `MCP_ERROR_NOT_CONNECTED` before `MCP_CLIENT_CONNECTED`, and after the connection has begun to end;
/// `MCP_ERROR_UNSUPPORTED` if the server does not declare tools; `MCP_ERROR_FULL` if no slot is free; `MCP_ERROR_BUSY`
/// if the transmit buffer has too little space: try again after `MCP_CLIENT_WRITABLE`; `MCP_ERROR_UNWRITABLE` if the
/// request is larger than the transmit buffer, or the arguments are not a JSON object. After an error, `ticket` is
/// `MCP_NO_TICKET`.
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
    // SAFETY: the caller promises that `name` is a string, and `arguments` a string or NULL.
    let sent =
        check_not_null(ticket).and_then(|()| unsafe { Ok((string(name)?, optional_string(arguments)?)) });
    let sent = sent.map(|(name, arguments)| {
        // SAFETY: the client is initialized.
        unsafe { machine(client) }.call_json(
            name,
            arguments.unwrap_or("{}"),
            options(timeout).with_progress(),
        )
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
    // SAFETY: the caller promises a string.
    let uri = check_not_null(ticket).and_then(|()| unsafe { string(uri) });
    // SAFETY: the client is initialized.
    let sent = uri.map(|uri| unsafe { machine(client) }.read_resource(uri, options(timeout)));
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
    // SAFETY: the caller promises that `name` is a string, and `arguments` a string or NULL.
    match unsafe { string(name).and_then(|name| Ok((name, optional_string(arguments)?))) } {
        Ok((name, arguments)) => {
            // SAFETY: the client is initialized.
            let client = unsafe { machine(client) };
            client.resume_call_json(from_c(ticket), name, arguments.unwrap_or("{}"), |_| {}).into()
        }
        Err(status) => status,
    }
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
    // SAFETY: the caller promises a string.
    match unsafe { string(uri) } {
        Ok(uri) => {
            // SAFETY: the client is initialized.
            let client = unsafe { machine(client) };
            client.resume_read(from_c(ticket), uri, |_| {}).into()
        }
        Err(status) => status,
    }
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
    // SAFETY: the client is initialized.
    unsafe { machine(client) }.cancel(from_c(ticket), "").into()
}

fn options(timeout: u64) -> Options<'static> {
    if timeout == 0 { Options::DEFAULT } else { Options::DEFAULT.timeout(Millis(timeout)) }
}

/// Writes the ticket of the request, or `MCP_NO_TICKET` if the request was not sent. Returns the status.
///
/// # Safety
/// `ticket` is NULL, or points to space for a ticket.
unsafe fn finish(sent: Result<Result<Ticket, SendError>, mcp_status_t>, ticket: *mut u64) -> mcp_status_t {
    let sent = sent.and_then(|sent| sent.map_err(mcp_status_t::from));
    // SAFETY: the caller promises NULL or space for a ticket.
    unsafe { write(ticket, sent.map_or(MCP_NO_TICKET, to_c)) };
    mcp_status_t::from(sent.map(|_| ()))
}
