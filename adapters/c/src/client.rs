//! Functions of a client: `mcp_client_…`. The functions for requests are in the module `client_request`.
//!
//! The storage works like the storage of a server (`server.rs`). The client borrows the configuration, and the bytes to
//! move borrow the client. So no function creates a reference to the whole storage.
#![allow(unsafe_code)]

use core::ffi::c_char;
use core::mem;

use mcp_proto::client::{Client, ClientConfig, Connect, Slot};
use mcp_proto::{Action, Millis};

use crate::client_event::{mcp_client_event_kind_t, mcp_client_event_t, on_event};
use crate::io::{Moves, deadline, end};
use crate::memory::{check_not_null, filled, slice, string, write};
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
/// the client. In the revisions with a handshake, a request may have 232 bytes less than `tx`, because these bytes are
/// reserved for the client's responses to requests of the server.
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
/// # Errors
/// `MCP_ERROR_NULL`: `client` is NULL.
///
/// # Safety
/// `client` is NULL or points to an initialized client. The caller does not use the reference after the next call of a
/// function that takes the client.
pub(crate) unsafe fn machine(
    client: *mut mcp_client_t,
) -> Result<&'static mut Client<'static>, mcp_status_t> {
    check_not_null(client)?;
    let storage = client.cast::<Storage>();
    // SAFETY: the client is initialized. The old `Moves` are overwritten without being read or dropped.
    unsafe {
        (&raw mut (*storage).moves).write(Moves::default());
        Ok(&mut (*storage).client)
    }
}

/// Returns the [`Moves`] of the last poll. They move no bytes if that poll did not return `MCP_CLIENT_IO`, or if
/// [`machine`] has overwritten them.
///
/// # Errors
/// `MCP_ERROR_NULL`: `client` is NULL.
///
/// # Safety
/// `client` is NULL or points to an initialized client. The calling function does not keep the reference after
/// returning.
unsafe fn moves<'a>(client: *mut mcp_client_t) -> Result<&'a mut Moves<'static>, mcp_status_t> {
    check_not_null(client)?;
    // SAFETY: the client is initialized, and nothing else refers to the field `moves`.
    Ok(unsafe { &mut (*client.cast::<Storage>()).moves })
}

/// Sets the flag `ended`, and returns the old value. Does nothing if `client` is NULL.
///
/// # Safety
/// `client` is NULL or points to an initialized client.
unsafe fn replace_ended(client: *mut mcp_client_t, ended: bool) -> bool {
    if client.is_null() {
        return false;
    }
    // SAFETY: the client is initialized, and nothing else refers to the field `ended`.
    mem::replace(unsafe { &mut (*client.cast::<Storage>()).ended }, ended)
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
    // SAFETY: the client is NULL or initialized. `read` moves the client out, and `write` moves the client back.
    // `in_flight` does not unwind.
    let lent = unsafe { machine(client) }.map(|client| unsafe {
        let place: *mut Client<'static> = client;
        place.write(place.read().in_flight(slots, text));
    });
    lent.into()
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
    let kind = mcp_client_event_kind_t::MCP_CLIENT_CLOSED;
    let mut out = mcp_client_event_t { kind, ..mcp_client_event_t::EMPTY };
    // SAFETY: the client is NULL or initialized. The caller promises NULL or space for an event.
    unsafe {
        // The only error is that the client is NULL.
        _ = poll(client, Millis(now), &mut out);
        write(event, out);
    }
    out.kind
}

/// Advances the client, and writes the event to `out`.
///
/// # Errors
/// `MCP_ERROR_NULL`: `client` is NULL. `out` is unchanged.
///
/// # Safety
/// `client` is NULL or points to an initialized client.
unsafe fn poll(
    client: *mut mcp_client_t,
    now: Millis,
    out: &mut mcp_client_event_t,
) -> Result<(), mcp_status_t> {
    loop {
        // SAFETY: the client is NULL or initialized. The reference of the previous iteration has no later use.
        match unsafe { machine(client) }?.poll(now) {
            // SAFETY: the client is initialized.
            Action::Io(io) if unsafe { replace_ended(client, false) } => {
                end(io);
                continue;
            }
            Action::Io(io) => {
                (out.kind, out.deadline) = (mcp_client_event_kind_t::MCP_CLIENT_IO, deadline(&io));
                // SAFETY: the client is initialized.
                unsafe { *moves(client)? = Moves::new(io) };
            }
            Action::Closed => {}
            Action::Event => {
                out.kind = mcp_client_event_kind_t::MCP_CLIENT_OTHER;
                // SAFETY: the client is initialized. The reference for `poll` has no later use.
                if let Some(event) = unsafe { machine(client) }?.event() {
                    on_event(event, out);
                }
            }
        }
        return Ok(());
    }
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
    // SAFETY: the client is NULL or initialized.
    let output = unsafe { moves(client) }.map_or(&[][..], |moves| moves.output());
    // SAFETY: the caller promises space for the length.
    unsafe { write(length, output.len()) };
    output.as_ptr()
}

/// Reports that the first `count` bytes of the output were sent. Call this at most once after each poll. A `count`
/// larger than the output means all bytes.
///
/// Errors: `MCP_ERROR_SEQUENCE` if the last poll did not return `MCP_CLIENT_IO`, the program has already reported sent
/// bytes after this poll, or another function has made the bytes invalid. After this error, the next output contains
/// the bytes of the failed report again, unless `mcp_client_reset` has dropped them.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_consumed(client: *mut mcp_client_t, count: usize) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized.
    unsafe { moves(client) }.map_or_else(|status| status, |moves| moves.consumed(count))
}

/// Passes received bytes to the client after `MCP_CLIENT_IO`. Call this at most once after each poll. Returns the
/// number of bytes that the client takes. Pass the remaining bytes after the next `MCP_CLIENT_IO`.
///
/// # Safety
/// `client` is initialized. `bytes` points to `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_feed(client: *mut mcp_client_t, bytes: *const u8, count: usize) -> usize {
    // SAFETY: the client is NULL or initialized. The caller promises `count` bytes.
    let (moves, bytes) = unsafe { (moves(client), slice(bytes, count).unwrap_or_default()) };
    moves.map_or(0, |moves| moves.feed(bytes))
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
    // SAFETY: the client is NULL or initialized.
    let input = unsafe { moves(client) }.map_or(&mut [][..], Moves::input);
    // SAFETY: the caller promises space for the size.
    unsafe { write(size, input.len()) };
    input.as_mut_ptr()
}

/// Reports that `count` bytes were received into the space. Call this at most once after each poll. A `count` larger
/// than the space means the whole space.
///
/// Errors: `MCP_ERROR_SEQUENCE` if the last poll did not return `MCP_CLIENT_IO`, the program has already passed
/// received bytes after this poll, or another function has made the space invalid. The client then has not received
/// these bytes.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_filled(client: *mut mcp_client_t, count: usize) -> mcp_status_t {
    // SAFETY: the client is NULL or initialized.
    unsafe { moves(client) }.map_or_else(|status| status, |moves| moves.filled(count))
}

/// Reports the end of the input. The next polls handle the received messages and fail the requests in flight, and then
/// return `MCP_CLIENT_CLOSED` when the output is sent, or after two seconds.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_end_of_input(client: *mut mcp_client_t) {
    // SAFETY: the client is NULL or initialized.
    unsafe { replace_ended(client, true) };
}

/// Ends the connection. The next polls fail the requests in flight, and then return `MCP_CLIENT_CLOSED` when the output
/// is sent, or after two seconds.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_shutdown(client: *mut mcp_client_t, now: u64) {
    // SAFETY: the client is NULL or initialized.
    _ = unsafe { machine(client) }.map(|client| client.shutdown(Millis(now)));
}

/// Starts a new connection: drops the requests, the received input and the unsent output of the old connection. The
/// dropped requests have no events. All earlier tickets become invalid. The next polls connect to the server.
///
/// # Safety
/// `client` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_reset(client: *mut mcp_client_t) {
    // SAFETY: the client is NULL or initialized.
    unsafe {
        replace_ended(client, false);
        _ = machine(client).map(Client::reset);
    }
}
