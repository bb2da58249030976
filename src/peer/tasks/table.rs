//! The table of the tasks that a peer runs, in lent slots or on the heap. The table of a server wraps this table.

use crate::framing::outbound_message::SessionKey;
use crate::json::{Json, SortKey, Str, Writer, text_of};
use crate::peer::slots::{Data, InFlight, Slot, Ticket};
use crate::peer::tasks::id::{Random, TaskId, is_same};
use crate::peer::tasks::options::{AutomaticTasks, TaskOptions};
use crate::peer::timeout::Timeout;
use crate::platform::{from_halves, to_halves};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::objects::task::{TaskMembers, TaskStatus};
use crate::protocol::pagination;
use crate::protocol::revision::{Era, Revision, WireFeature};
use crate::time::Millis;

/// Handle of a task: the index of its slot and the slot's generation.
///
/// The application may copy a ticket and store it without a time limit. The table rejects the ticket of a removed task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskTicket(pub(crate) Ticket);

/// Storage for one task, at most 96 bytes.
///
/// The caller lends an array: `[TaskSlot::EMPTY; 4]`.
pub type TaskSlot = Slot<TaskData>;

const _: () = assert!(size_of::<TaskSlot>() <= 96, "a task exceeds 96 bytes");

/// Maximum length of a message about a status, in bytes of JSON.
pub(crate) const LONGEST_MESSAGE: usize = 128;

/// Fields of a task's slot, without its text.
///
/// The text consists of the progress token, the message about the status, and the payload. If a deferred request became
/// or may become the task, the ticket of this request takes the place of the token. A client stores the kind of the
/// request after the ticket.
///
/// The payload is JSON. In an open task of `2026-07-28`, the payload holds the open input requests. In an open task of
/// `2025-11-25`, the payload is the key of the input request whose response arrived last. In a completed or failed
/// task, the payload is the result or error, unless the application keeps it.
#[derive(Debug, Clone, Copy)]
pub struct TaskData {
    pub(crate) random: Random,
    /// Unix time in milliseconds, in two halves, because a `u64` would require padding.
    pub(crate) created: [u32; 2],
    pub(crate) updated: [u32; 2],
    pub(crate) ttl: Timeout,
    pub(crate) poll_interval: Timeout,
    /// The user who may access the task, or 0 if the application distinguishes no users.
    pub(crate) owner: [u32; 2],
    /// The handshake session that created the task.
    pub(crate) session: SessionKey,
    pub(crate) token_length: u8,
    pub(crate) message_length: u8,
    pub(crate) last_progress: SortKey,
    /// Number of input requests without a response.
    pub(crate) open: u8,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) revision: Revision,
    pub(crate) state: TaskState,
    /// Whether the payload is the result or error of the task. If a completed or failed task has no such payload, the
    /// application keeps the result or error.
    pub(crate) is_stored: bool,
    /// Whether to add empty structured content if the result has none.
    pub(crate) pad_structured: bool,
    /// Whether the application knows the task only as a request. If the application deferred the request, the text
    /// begins with the ticket of the request.
    pub(crate) has_request: bool,
    /// Whether the task has changed, and its status notification (`2025-11-25`) may be pending.
    pub(crate) is_changed: bool,
}

impl Data for TaskData {}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    /// A call may become this task.
    Reserved,
    /// The task has not ended.
    Open,
    Completed,
    /// The task has a result with `isError`.
    ToolFailed,
    /// The task has a JSON-RPC error.
    Failed,
    Cancelled,
    /// The task is removed, but requests may still wait for its end.
    Removed,
}

impl TaskData {
    /// Returns the status on the wire. `2025-11-25` counts results with `isError` as failed, `2026-07-28` as
    /// completed.
    pub(crate) fn status(&self) -> TaskStatus {
        match self.state {
            TaskState::Open if self.open > 0 => TaskStatus::InputRequired,
            TaskState::Open | TaskState::Reserved => TaskStatus::Working,
            TaskState::ToolFailed if self.revision.has(WireFeature::Tasks) => TaskStatus::Failed,
            TaskState::Completed | TaskState::ToolFailed => TaskStatus::Completed,
            TaskState::Failed => TaskStatus::Failed,
            TaskState::Cancelled | TaskState::Removed => TaskStatus::Cancelled,
        }
    }

    /// Returns the start of the message in the text.
    pub(crate) fn message_start(&self) -> usize {
        self.token_length.into()
    }

    /// Returns the start of the payload in the text.
    pub(crate) fn payload_start(&self) -> usize {
        self.message_start().saturating_add(self.message_length.into())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == TaskState::Open
    }

    /// Returns whether the task has ended, and the application knew it only as a request.
    pub(crate) fn is_ended_request(&self) -> bool {
        self.has_request && !matches!(self.state, TaskState::Reserved | TaskState::Open)
    }

    /// Returns whether the task has ended, and the application keeps its result or error.
    pub(crate) fn is_kept_by_application(&self) -> bool {
        let has_payload =
            matches!(self.state, TaskState::Completed | TaskState::ToolFailed | TaskState::Failed);
        has_payload && !self.is_stored
    }

    fn is_visible(&self, owner: u64, revision: Revision, session: SessionKey) -> bool {
        // In the handshake era, if the application distinguishes no users, a task belongs to its session.
        let in_session = owner != 0 || revision.era() == Era::Stateless || self.session == session;
        !matches!(self.state, TaskState::Removed | TaskState::Reserved)
            && self.owner == to_halves(owner)
            && self.revision == revision
            && in_session
    }
}

/// The tasks that a client runs for its server (`2025-11-25`). A server has a table type of its own:
/// [`server::TaskTable`](crate::server::TaskTable).
///
/// The table has an effect only if the configuration calls
/// [`ClientConfig::client_tasks`](crate::client::ClientConfig::client_tasks).
///
/// ```
/// use mcp_proto::client::{ClientConfig, TaskOptions, TaskSlot, TaskTable};
/// use mcp_proto::{Client, ClientCapabilities, Millis};
///
/// # fn random() -> [u8; 16] { [7; 16] }
/// static CONFIG: ClientConfig = ClientConfig::new("example", "1.0.0")
///     .capabilities(ClientCapabilities::SAMPLING)
///     .client_tasks(|| TaskOptions::new(random()));
///
/// let (mut slots, mut text) = ([TaskSlot::EMPTY; 4], [0; 4 * 1024]);
/// let mut tasks = TaskTable::new(&mut slots, &mut text).wall_clock(Millis(1_785_231_000_000));
/// let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
/// let client = Client::new(&CONFIG, &mut rx, &mut tx)?.client_tasks(&mut tasks)?;
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub struct TaskTable<'b> {
    pub(crate) slots: InFlight<'b, TaskData>,
    /// Unix time at the origin of the caller's clock.
    clock: Millis,
    /// The id of the user who sent the current message, or 0.
    pub(crate) owner: u64,
    pub(crate) keeps_on_reset: bool,
    pub(crate) notifies: bool,
    /// Whether responses or notifications about tasks may be unsent.
    pub(crate) is_pending: bool,
    /// The configuration of automatic tasks (server only).
    pub(crate) automatic: Option<AutomaticTasks>,
    /// The time to live that the client requests for a task, or 0 if the client requests no time. `None` if the
    /// current call cannot become a task automatically (server only).
    pub(crate) candidate: Option<u64>,
}

impl<'b> TaskTable<'b> {
    /// Creates a table over lent slots. Each slot has an equal share of `text`.
    ///
    /// The share of a task stores the result. If a deferred request became the task, seven bytes precede the result:
    /// the ticket and the kind of the request. The response to `tasks/result` must also fit into the transmit buffer.
    /// Otherwise the server receives an error instead of the result.
    #[must_use]
    pub fn new(slots: &'b mut [TaskSlot], text: &'b mut [u8]) -> TaskTable<'b> {
        TaskTable::from_slots(InFlight::lent(slots, text))
    }

    /// Creates a table that grows on the heap, to `limit` tasks with up to `text` bytes of text each.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn grown(limit: usize, text: usize) -> TaskTable<'static> {
        TaskTable::from_slots(InFlight::grown(limit, text))
    }

    fn from_slots(slots: InFlight<'_, TaskData>) -> TaskTable<'_> {
        TaskTable {
            slots,
            clock: Millis::ZERO,
            owner: 0,
            keeps_on_reset: false,
            notifies: false,
            is_pending: false,
            automatic: None,
            candidate: None,
        }
    }

    /// Sets the Unix time at the origin of the caller's clock, in milliseconds.
    ///
    /// The default is 0, so timestamps begin in 1970.
    #[must_use]
    pub fn wall_clock(mut self, origin: Millis) -> Self {
        self.clock = origin;
        self
    }

    /// Keeps the tasks for the next connection, which must lead to the same server.
    ///
    /// By default, the end of the connection removes all tasks.
    #[must_use]
    pub fn keep_on_reset(mut self) -> Self {
        self.keeps_on_reset = true;
        self
    }

    /// Enables `notifications/tasks/status`. By default, the client sends no such notifications, so the server must
    /// poll the tasks.
    #[must_use]
    pub fn notify(mut self) -> Self {
        self.notifies = true;
        self
    }

    /// Returns the number of taken slots. Ended tasks also take slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether no slot is taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the Unix time in milliseconds, in two halves.
    pub(crate) fn wall_time(&self, now: Millis) -> [u32; 2] {
        to_halves(self.clock.plus(now).0)
    }

    /// Returns the number of slots, including free slots.
    pub(crate) fn slots(&self) -> u32 {
        self.slots.slots_ref().len().try_into().unwrap_or(u32::MAX)
    }

    pub(crate) fn data(&self, ticket: Ticket) -> Option<&TaskData> {
        self.slots.get(ticket)
    }

    /// Finds the task with this id, if the sender of a request may access the task.
    pub(crate) fn find(&self, id: Str<'_>, revision: Revision, session: SessionKey) -> Option<Ticket> {
        let (ticket, random) = TaskId::parse(id)?;
        let data = self.data(ticket)?;
        let found = is_same(&data.random, &random) & data.is_visible(self.owner, revision, session);
        found.then_some(ticket)
    }

    /// Returns the task in the slot with this index, if the sender of a request may access the task.
    pub(crate) fn visible_in_slot(
        &self,
        slot: u32,
        revision: Revision,
        session: SessionKey,
    ) -> Option<Ticket> {
        let (ticket, data) = self.slots.request_in_slot(slot)?;
        data.is_visible(self.owner, revision, session).then_some(ticket)
    }

    /// Returns the task in the slot whose index has these two bytes, little-endian.
    pub(crate) fn in_slot(&self, slot: [u8; 2]) -> Option<Ticket> {
        self.slots.request_in_slot(u16::from_le_bytes(slot).into()).map(|(ticket, _)| ticket)
    }

    /// Returns the fields of a new task.
    pub(crate) fn new_data(
        &self,
        now: Millis,
        revision: Revision,
        session: SessionKey,
        options: TaskOptions,
        ttl: Millis,
    ) -> TaskData {
        let created = self.wall_time(now);
        TaskData {
            random: options.random,
            created,
            updated: created,
            ttl: Timeout::new(ttl),
            poll_interval: Timeout::new(options.poll_interval),
            owner: to_halves(self.owner),
            session,
            token_length: 0,
            message_length: 0,
            last_progress: SortKey::NONE,
            open: 0,
            capabilities: ClientCapabilities::NONE,
            revision,
            state: TaskState::Open,
            is_stored: false,
            pad_structured: false,
            has_request: false,
            is_changed: false,
        }
    }

    /// Records that a task has changed, and the time of the change. A later poll sends the notifications about the
    /// change, if notifications are enabled.
    pub(crate) fn touch(&mut self, ticket: Ticket, now: Millis) {
        let time = self.wall_time(now);
        if let Some(data) = self.slots.get_mut(ticket) {
            (data.updated, data.is_changed) = (time, true);
        }
        self.is_pending = true;
    }

    /// Ends a task in the state `end`. The input requests of the task are no longer open.
    pub(crate) fn set_end(&mut self, ticket: Ticket, end: TaskState) {
        let Some(data) = self.slots.get_mut(ticket) else { return };
        (data.state, data.open) = (end, 0);
        if end == TaskState::Removed {
            self.slots.set_deadline(ticket, None);
        }
    }

    /// Releases the slots of removed tasks.
    pub(crate) fn release_removed(&mut self) {
        let mut slot = 0;
        while let Some(ticket) = self.slots.next_from(&mut slot) {
            if self.data(ticket).is_some_and(|data| data.state == TaskState::Removed) {
                self.slots.release(ticket);
            }
        }
    }

    pub(crate) fn is_open(&self, ticket: Ticket) -> bool {
        self.data(ticket).is_some_and(TaskData::is_open)
    }

    pub(crate) fn id(&self, ticket: Ticket) -> Option<TaskId> {
        self.data(ticket).map(|data| TaskId::new(ticket, data.random))
    }

    /// Returns the payload of a task: JSON text, or empty.
    pub(crate) fn payload(&self, ticket: Ticket) -> &[u8] {
        let start = self.data(ticket).map_or(0, TaskData::payload_start);
        self.slots.text(ticket).get(start..).unwrap_or_default()
    }

    /// Writes the members of the task into an open object.
    pub(crate) fn write_members(&self, ticket: Ticket, out: &mut Writer<'_>) {
        let Some((data, id)) = self.data(ticket).zip(self.id(ticket)) else { return };
        let message = self.slots.text(ticket).get(data.message_start()..data.payload_start());
        let members = TaskMembers {
            id: id.as_str(),
            status: data.status(),
            message: text_of(message.unwrap_or_default()),
            created: Millis(from_halves(data.created)),
            updated: Millis(from_halves(data.updated)),
            ttl: Some(data.ttl.millis()).filter(|ttl| ttl.0 < u64::MAX),
            poll_interval: data.poll_interval.millis(),
        };
        members.write(data.revision, out);
    }

    /// Writes the task as an object.
    pub(crate) fn write_object(&self, ticket: Ticket, out: &mut Writer<'_>) {
        out.begin_object();
        self.write_members(ticket, out);
        out.end_object();
    }

    /// Writes a page of the tasks that the sender of a request may access, from the slot with the index `first` on.
    pub(crate) fn write_page(
        &self,
        first: u32,
        revision: Revision,
        session: SessionKey,
        out: &mut Writer<'_>,
    ) {
        let slots = self.slots();
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        pagination::write(out, "tasks", first, &mut |slot, out| {
            let slot = u32::try_from(slot).ok().filter(|slot| *slot < slots)?;
            let ticket = self.visible_in_slot(slot, revision, session);
            if let Some(ticket) = ticket {
                self.write_object(ticket, out);
            }
            // A page omits free slots, and tasks that the sender cannot access.
            Some(ticket.is_some())
        });
    }

    /// Writes the members of the task (`2026-07-28`). Depending on the status, also writes the open input requests, the
    /// stored result or the stored error.
    pub(crate) fn write_detailed(&self, ticket: Ticket, out: &mut Writer<'_>) {
        self.write_members(ticket, out);
        let Some(data) = self.data(ticket) else { return };
        let key = match data.status() {
            TaskStatus::InputRequired => "inputRequests",
            TaskStatus::Completed => "result",
            TaskStatus::Failed => "error",
            TaskStatus::Working | TaskStatus::Cancelled => return,
        };
        out.key(key);
        out.json(Json::trusted(self.payload(ticket)));
    }
}

/// Returns the time at which a task with this time to live expires. Returns `None` if the task never expires.
pub(crate) fn expiry(now: Millis, ttl: Millis) -> Option<Millis> {
    (ttl.0 < u64::MAX).then(|| now.plus(ttl))
}

impl core::fmt::Debug for TaskTable<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TaskTable").field("len", &self.len()).finish_non_exhaustive()
    }
}
