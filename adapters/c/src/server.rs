//! Functions of a server: `mcp_server_…`.
//!
//! `mcp_server_t` is memory of the C program. This memory contains a [`Storage`], whose fields refer to each other: the
//! server borrows the configuration, and the [current value](Current) borrows the server. So the functions never create
//! a reference to the whole [`Storage`], only to the fields that they use. [`machine`] overwrites the current value
//! before a function uses the server again.
#![allow(unsafe_code)]

use core::ffi::c_char;
use core::mem::{self, MaybeUninit};
use core::ptr;

use mcp_proto::server::{Feature, Resources, SecondInitialize, ServerConfig, Slot, Tools};
use mcp_proto::{Action, Millis, Server};

use crate::event::{mcp_call_t, mcp_event_kind_t, mcp_event_t};
use crate::io::{Moves, deadline, end};
use crate::memory::{check_not_null, filled, optional_string, slice, string, write};
use crate::request::{Current, from_c, on_event, on_resource_event};
use crate::status::mcp_status_t;
use crate::table::{Tables, mcp_feature_t, mcp_server_config_t};

/// The size of `mcp_server_t`, in words that have the size of a pointer. On bare metal, a server is smaller than on a
/// computer, because it has no buffers that grow.
#[cfg(target_os = "none")]
pub const MCP_SERVER_WORDS: usize = 160;
/// The size of `mcp_server_t`, in words that have the size of a pointer.
#[cfg(not(target_os = "none"))]
pub const MCP_SERVER_WORDS: usize = 320;
/// The size of `mcp_slot_t`, in words of 32 bits.
pub const MCP_SLOT_WORDS: usize = 11;

/// The storage of a server. The program must not copy or move the storage after `mcp_server_init`.
#[repr(C, align(8))]
pub struct mcp_server_t {
    /// Private.
    pub storage: [*mut core::ffi::c_void; MCP_SERVER_WORDS],
}

/// The storage of a deferred request, without its id and progress token: see `mcp_server_lend_slots`.
#[repr(C)]
pub struct mcp_slot_t {
    /// Private.
    pub storage: [u32; MCP_SLOT_WORDS],
}

/// The feature *resources*: see the macro `MCP_RESOURCES`.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static mcp_feature_resources: mcp_feature_t =
    mcp_feature_t { feature: &DYNAMIC_RESOURCES, check: Tables::check_resources, handle: on_resource_event };

static DYNAMIC_TOOLS: Tools<'static> = Tools::dynamic_list();
static DYNAMIC_RESOURCES: Resources<'static> = Resources::dynamic_list();

/// The content of a `mcp_server_t`.
struct Storage {
    features: [&'static dyn Feature; 2],
    config: ServerConfig<'static>,
    tables: Tables,
    server: Server<'static>,
    current: Current<'static>,
    /// Whether a poll must still pass the end of the input to the server.
    ended: bool,
}

const _: () = assert!(size_of::<Storage>() <= size_of::<mcp_server_t>(), "MCP_SERVER_WORDS is too small");
const _: () = assert!(align_of::<Storage>() <= align_of::<mcp_server_t>());
const _: () = assert!(size_of::<Slot>() <= size_of::<mcp_slot_t>(), "MCP_SLOT_WORDS is too small");
const _: () = assert!(align_of::<Slot>() <= align_of::<mcp_slot_t>());

/// Initializes a server.
///
/// The size of `rx` limits the length of a message from the client, and the size of `tx` the length of a response.
/// Clients of 2026-07-28 send calls of about 500 bytes.
///
/// Errors: `MCP_ERROR_NULL`, `MCP_ERROR_UTF8` and `MCP_ERROR_CONFIG` for the configuration; `MCP_ERROR_NULL` also if
/// the server or a buffer is NULL; `MCP_ERROR_RX_TOO_SMALL`; `MCP_ERROR_TX_TOO_SMALL`. After an error, the program must
/// not use the server.
///
/// # Safety
/// All pointers are valid. The storage, the buffers, the configuration, its tables and their texts stay valid as long
/// as the server is used. Only functions of the library use the storage and the buffers, except for the bytes of
/// `mcp_server_output` and the space of `mcp_server_input`. No two threads use one server at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_init(
    server: *mut mcp_server_t,
    config: *const mcp_server_config_t,
    rx: *mut u8,
    rx_size: usize,
    tx: *mut u8,
    tx_size: usize,
) -> mcp_status_t {
    // SAFETY: the caller promises buffers of these sizes, which only the library uses.
    match unsafe { (filled(rx, rx_size, 0), filled(tx, tx_size, 0)) } {
        // SAFETY: the caller promises what `init` requires.
        (Ok(rx), Ok(tx)) => unsafe { init(server.cast(), config, rx, tx) }.into(),
        _ => mcp_status_t::MCP_ERROR_NULL,
    }
}

/// Initializes the storage, field by field.
///
/// # Safety
/// The requirements of [`mcp_server_init`].
unsafe fn init(
    storage: *mut Storage,
    config: *const mcp_server_config_t,
    rx: &'static mut [u8],
    tx: &'static mut [u8],
) -> Result<(), mcp_status_t> {
    // SAFETY: the caller promises a valid pointer or NULL.
    let config =
        unsafe { config.as_ref() }.filter(|_| !storage.is_null()).ok_or(mcp_status_t::MCP_ERROR_NULL)?;
    // SAFETY: the caller promises valid tables.
    let tables = unsafe { Tables::new(config) }?;
    let resources = tables.resources_feature.map(|resources| resources.feature);
    let features: [&'static dyn Feature; 2] = [&DYNAMIC_TOOLS, resources.unwrap_or(&DYNAMIC_TOOLS)];
    let count = 1 + usize::from(resources.is_some());
    // SAFETY: the storage is valid, large enough and aligned. The array is written once and then only read.
    let features: &'static [&'static dyn Feature; 2] = unsafe {
        (&raw mut (*storage).features).write(features);
        &(*storage).features
    };
    // SAFETY: the caller promises valid texts.
    let (name, version) = unsafe { (string(config.name)?, string(config.version)?) };
    let mut settings = ServerConfig::new(name, version).features(features.get(..count).unwrap_or_default());
    // SAFETY: the caller promises valid texts.
    if let Some(instructions) = unsafe { optional_string(config.instructions) }? {
        settings = settings.instructions(instructions);
    }
    if config.restart_on_initialize {
        settings = settings.second_initialize(SecondInitialize::Restart);
    }
    // SAFETY: the storage is valid. The configuration is written once and then only read.
    let settings: &'static ServerConfig<'static> = unsafe {
        (&raw mut (*storage).config).write(settings);
        (&raw mut (*storage).tables).write(tables);
        (&raw mut (*storage).current).write(Current::Nothing);
        (&raw mut (*storage).ended).write(false);
        &(*storage).config
    };
    // SAFETY: the storage is valid, and nothing else refers to the field `server`.
    let place = unsafe { &mut *(&raw mut (*storage).server).cast::<MaybeUninit<Server<'static>>>() };
    Server::init(place, settings, rx, tx)?;
    Ok(())
}

/// Overwrites the current value, which borrows the server, and returns the server.
///
/// # Errors
/// `MCP_ERROR_NULL`: `server` is NULL.
///
/// # Safety
/// `server` is NULL or points to an initialized server. The caller does not use the reference after the next call of a
/// function that takes the server.
unsafe fn machine(server: *mut mcp_server_t) -> Result<&'static mut Server<'static>, mcp_status_t> {
    check_not_null(server)?;
    let storage = server.cast::<Storage>();
    // SAFETY: the server is initialized. The old value is overwritten without being read or dropped.
    unsafe {
        (&raw mut (*storage).current).write(Current::Nothing);
        Ok(&mut (*storage).server)
    }
}

/// Returns the [`Current`] value that the last poll or `mcp_server_resume` stored. The value is [`Current::Nothing`]
/// before the first poll, and after another function has consumed or overwritten the stored value.
///
/// # Errors
/// `MCP_ERROR_NULL`: `server` is NULL.
///
/// # Safety
/// `server` is NULL or points to an initialized server. The calling function does not keep the reference after
/// returning.
unsafe fn current<'a>(server: *mut mcp_server_t) -> Result<&'a mut Current<'static>, mcp_status_t> {
    check_not_null(server)?;
    // SAFETY: the server is initialized, and the value of `current` does not refer to itself.
    Ok(unsafe { &mut (*server.cast::<Storage>()).current })
}

/// Returns the bytes to move: [`Current::moves`].
///
/// # Errors
/// `MCP_ERROR_NULL`: `server` is NULL. `MCP_ERROR_SEQUENCE`: no bytes can move now.
///
/// # Safety
/// The requirements of [`current`].
unsafe fn moves<'a>(server: *mut mcp_server_t) -> Result<&'a mut Moves<'static>, mcp_status_t> {
    // SAFETY: the caller promises the same requirements.
    unsafe { current(server) }?.moves().ok_or(mcp_status_t::MCP_ERROR_SEQUENCE)
}

/// Sets the flag `ended`, and returns the old value. Does nothing if `server` is NULL.
///
/// # Safety
/// `server` is NULL or points to an initialized server.
unsafe fn replace_ended(server: *mut mcp_server_t, ended: bool) -> bool {
    if server.is_null() {
        return false;
    }
    // SAFETY: the server is initialized, and nothing else refers to the field `ended`.
    mem::replace(unsafe { &mut (*server.cast::<Storage>()).ended }, ended)
}

/// Stores the current value for the next function calls of C, and returns a pointer to the value. If the value is a
/// request, the pointer is its handle.
///
/// # Safety
/// `server` points to an initialized server.
unsafe fn set_current(server: *mut mcp_server_t, next: Current<'static>) -> *mut mcp_call_t {
    // SAFETY: the server is initialized.
    unsafe {
        let place = &raw mut (*server.cast::<Storage>()).current;
        place.write(next);
        place.cast()
    }
}

/// Lends storage for deferred requests. Call this before the first poll.
///
/// Each slot gets an equal part of `text` for the id and the progress token of a request. A part of 64 bytes is enough
/// for known clients, and a part of 80 bytes for clients that use UUIDs. Without this function, no request can be
/// deferred.
///
/// Errors: `MCP_ERROR_TEXT_TOO_SMALL` if a slot gets less than 8 bytes; the server uses the arrays nevertheless.
/// `MCP_ERROR_NULL` for a NULL array whose size is not 0. `MCP_ERROR_CONFIG` if requests are deferred in earlier slots.
///
/// # Safety
/// `server` is initialized. The arrays stay valid as long as the server is used, and only the library uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_lend_slots(
    server: *mut mcp_server_t,
    slots: *mut mcp_slot_t,
    count: usize,
    text: *mut u8,
    text_size: usize,
) -> mcp_status_t {
    // SAFETY: the caller promises valid arrays. A slot of the core is not larger than a `mcp_slot_t`, so `count` slots
    // fit.
    match unsafe { (filled(slots.cast::<Slot>(), count, Slot::EMPTY), filled(text, text_size, 0)) } {
        // SAFETY: the server is NULL or initialized.
        (Ok(slots), Ok(text)) => match unsafe { machine(server) } {
            Ok(server) => server.set_in_flight(slots, text).into(),
            Err(status) => status,
        },
        _ => mcp_status_t::MCP_ERROR_NULL,
    }
}

/// Advances the server. Returns the kind of the event, and writes the whole event to `event`.
///
/// `now` is the time in milliseconds since a fixed moment, and never decreases. If the program has neither responded to
/// the request of the last event nor deferred the request, the server responds with an error in this poll.
///
/// # Safety
/// `server` is initialized. `event` points to an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_poll(
    server: *mut mcp_server_t,
    now: u64,
    event: *mut mcp_event_t,
) -> mcp_event_kind_t {
    let mut out = mcp_event_t { kind: mcp_event_kind_t::MCP_EVENT_CLOSED, ..mcp_event_t::EMPTY };
    // SAFETY: the server is NULL or initialized. The caller promises NULL or space for an event.
    unsafe {
        // The only error is that the server is NULL.
        _ = poll(server, Millis(now), &mut out);
        write(event, out);
    }
    out.kind
}

/// Advances the server, and writes the event to `out`.
///
/// # Errors
/// `MCP_ERROR_NULL`: `server` is NULL. `out` is unchanged.
///
/// # Safety
/// `server` is NULL or points to an initialized server.
unsafe fn poll(server: *mut mcp_server_t, now: Millis, out: &mut mcp_event_t) -> Result<(), mcp_status_t> {
    let next = loop {
        // SAFETY: the server is NULL or initialized. The reference of the previous iteration has no later use.
        match unsafe { machine(server) }?.poll(now) {
            // SAFETY: the server is initialized.
            Action::Io(io) if unsafe { replace_ended(server, false) } => {
                end(io);
                continue;
            }
            Action::Io(io) => {
                (out.kind, out.deadline) = (mcp_event_kind_t::MCP_EVENT_IO, deadline(&io));
                break Current::Moves(Moves::new(io));
            }
            Action::Event => {}
            Action::Closed => break Current::Nothing,
        }
        // SAFETY: the server is initialized. After `init`, no function changes the tables.
        let (server, tables) = unsafe { (machine(server)?, &(*server.cast::<Storage>()).tables) };
        if let Some(next) = server.event().and_then(|event| on_event(event, tables, out)) {
            break next;
        }
    };
    // SAFETY: the server is initialized.
    unsafe {
        out.call = set_current(server, next);
        current(server)?.describe(out);
    }
    if !matches!(out.kind, mcp_event_kind_t::MCP_EVENT_CALL | mcp_event_kind_t::MCP_EVENT_READ) {
        out.call = ptr::null_mut();
    }
    Ok(())
}

/// Returns the bytes to send, and writes their number to `length`. Call this after `MCP_EVENT_IO`.
///
/// Send the bytes and report their number before calling a function that takes the server but does not move bytes, such
/// as `mcp_server_resume`. Such a function may invalidate these bytes and the space of `mcp_server_input`, even if the
/// function fails.
///
/// # Safety
/// `server` is initialized. `length` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_output(server: *mut mcp_server_t, length: *mut usize) -> *const u8 {
    // SAFETY: the server is NULL or initialized.
    let output = unsafe { moves(server) }.map_or(&[][..], |moves| moves.output());
    // SAFETY: the caller promises space for the length.
    unsafe { write(length, output.len()) };
    output.as_ptr()
}

/// Reports that the first `count` bytes of the output were sent. Call this at most once after each poll. A `count`
/// larger than the output means all bytes.
///
/// Errors: `MCP_ERROR_SEQUENCE` if the last poll did not return `MCP_EVENT_IO`, the program has already reported sent
/// bytes after this poll, or another function has made the bytes invalid. After this error, the next output contains
/// the bytes of the failed report again, unless `mcp_server_reset` has dropped them.
///
/// # Safety
/// `server` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_consumed(server: *mut mcp_server_t, count: usize) -> mcp_status_t {
    // SAFETY: the server is NULL or initialized.
    unsafe { moves(server) }.map_or_else(|status| status, |moves| moves.consumed(count))
}

/// Passes received bytes to the server after `MCP_EVENT_IO`. Call this at most once after each poll. Returns the number
/// of bytes that the server takes.
///
/// Pass the remaining bytes after the next `MCP_EVENT_IO`. The server takes only as many bytes as fit into the receive
/// buffer. It may take none while a request waits for transmit space.
///
/// # Safety
/// `server` is initialized. `bytes` points to `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_feed(server: *mut mcp_server_t, bytes: *const u8, count: usize) -> usize {
    // SAFETY: the server is NULL or initialized. The caller promises `count` bytes.
    let (moves, bytes) = unsafe { (moves(server), slice(bytes, count).unwrap_or_default()) };
    moves.map_or(0, |moves| moves.feed(bytes))
}

/// Returns the space for received bytes, and writes its size to `size`. This function is the alternative to
/// `mcp_server_feed`. Receive into this space, and report the number of bytes with `mcp_server_filled`. Do both before
/// calling a function that invalidates the space: see `mcp_server_output`.
///
/// # Safety
/// `server` is initialized. `size` points to a number. The program writes only into the space, and
/// only until `mcp_server_filled`, the next poll, or a function that invalidates the space.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_input(server: *mut mcp_server_t, size: *mut usize) -> *mut u8 {
    // SAFETY: the server is NULL or initialized.
    let input = unsafe { moves(server) }.map_or(&mut [][..], |moves| moves.input());
    // SAFETY: the caller promises space for the size.
    unsafe { write(size, input.len()) };
    input.as_mut_ptr()
}

/// Reports that `count` bytes were received into the space. Call this at most once after each poll. A `count` larger
/// than the space means the whole space.
///
/// Errors: `MCP_ERROR_SEQUENCE` if the last poll did not return `MCP_EVENT_IO`, the program has already passed received
/// bytes after this poll, or another function has made the space invalid. The server then has not received these bytes.
///
/// # Safety
/// `server` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_filled(server: *mut mcp_server_t, count: usize) -> mcp_status_t {
    // SAFETY: the server is NULL or initialized.
    unsafe { moves(server) }.map_or_else(|status| status, |moves| moves.filled(count))
}

/// Reports the end of the input. For at most two seconds, the server waits until the deferred requests have responses.
/// Then it waits until the client has read the output. `mcp_server_poll` returns `MCP_EVENT_CLOSED` when the output is
/// sent, or if the client reads nothing for two seconds.
///
/// # Safety
/// `server` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_end_of_input(server: *mut mcp_server_t) {
    // SAFETY: the server is NULL or initialized.
    unsafe { replace_ended(server, true) };
}

/// Starts a new connection: drops the requests, the received input and the unsent output of the old connection. All
/// earlier tickets become invalid.
///
/// # Safety
/// `server` is initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_reset(server: *mut mcp_server_t) {
    // SAFETY: the server is NULL or initialized.
    unsafe {
        replace_ended(server, false);
        _ = machine(server).map(Server::reset);
    }
}

/// Writes the handle of a deferred request to `call`, for progress or the response. The handle is valid until the next
/// call of a function that takes the server. If the program does not respond, the request stays deferred.
///
/// Errors: `MCP_ERROR_GONE` if the request has ended; `MCP_ERROR_BUSY` if the transmit buffer has no space for a
/// response: try again after `MCP_EVENT_WRITABLE`; `MCP_ERROR_SEQUENCE` if the request of the last event is open:
/// respond to that request or defer it first; `MCP_ERROR_NULL` if `call` is NULL. After an error, the pointer at `call`
/// is unchanged.
///
/// # Safety
/// `server` is initialized. `call` points to space for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_resume(
    server: *mut mcp_server_t,
    ticket: u64,
    call: *mut *mut mcp_call_t,
) -> mcp_status_t {
    // SAFETY: the server is NULL or initialized.
    let (Ok(()), Ok(current)) = (check_not_null(call), unsafe { current(server) }) else {
        return mcp_status_t::MCP_ERROR_NULL;
    };
    if current.is_open_request() {
        return mcp_status_t::MCP_ERROR_SEQUENCE;
    }
    // SAFETY: the server is initialized.
    let Ok(machine) = (unsafe { machine(server) }) else { return mcp_status_t::MCP_ERROR_NULL };
    mcp_status_t::from(machine.reply(from_c(ticket)).map(|reply| {
        // SAFETY: the server is initialized. The caller promises space for a pointer.
        unsafe { write(call, set_current(server, Current::Deferred(reply))) }
    }))
}

/// Returns a short English text for a status.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_status_text(status: i32) -> *const c_char {
    crate::status::text(status).as_ptr()
}
