//! Tasks: status, task support of tools, and the members of a task, for both revisions that have tasks.
//!
//! Specification: 2025-11-25, *Tasks*; the extension *Tasks* of `2026-07-28`.

use crate::json::{Json, Str, Writer};
use crate::platform::divide;
use crate::protocol::named_values::named_values;
use crate::protocol::objects::view::{duration, object, text, view};
use crate::protocol::revision::{Revision, WireFeature};
use crate::time::Millis;

/// The identifier of the extension *Tasks* of `2026-07-28`.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The key of `_meta` that relates a message to a task (`2025-11-25`).
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

named_values! {
    /// The status of a task.
    ///
    /// ```
    /// use mcp_proto::TaskStatus;
    /// assert!(TaskStatus::Cancelled.is_terminal() && !TaskStatus::InputRequired.is_terminal());
    /// ```
    ///
    /// Specification: *Tasks*, *Task status*.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub enum TaskStatus {
        /// The request is in progress.
        Working = "working",
        /// The server needs input from the client.
        InputRequired = "input_required",
        /// The request has a result. In `2026-07-28`, this status includes results with `isError`.
        Completed = "completed",
        /// The request has failed with a JSON-RPC error. In `2025-11-25`, this status includes results with `isError`.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }

    /// All statuses, in the order of the specification.
    pub const ALL;
    pub fn from_json;
}

impl TaskStatus {
    /// Returns whether the status is final.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, TaskStatus::Working | TaskStatus::InputRequired)
    }
}

named_values! {
    /// Whether calls of a tool may become tasks.
    ///
    /// In `2025-11-25`, the list of tools shows the value to clients. In `2026-07-28`, only the server uses the value.
    ///
    /// Specification: 2025-11-25, *Tasks*, *Tool-level negotiation*.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub enum TaskSupport {
        /// Calls never become tasks. In `2025-11-25`, the server refuses a call that requests a task (-32601).
        #[default]
        Forbidden = "forbidden",
        /// Calls may become tasks.
        Optional = "optional",
        /// Calls must become tasks. In `2025-11-25`, the server refuses a call that requests no task (-32601). In
        /// `2026-07-28`, the server refuses a call of a client without the extension (-32021).
        Required = "required",
    }

    const ALL;
    pub(crate) fn from_json;
}

/// The task support of a tool, with the function that writes the support. A program that never sets the task support
/// of a tool does not link the function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolTasks {
    pub(crate) support: TaskSupport,
    pub(crate) write: fn(TaskSupport, Revision, &mut Writer<'_>),
}

impl ToolTasks {
    pub(crate) const fn new(support: TaskSupport) -> &'static ToolTasks {
        const FORBIDDEN: &ToolTasks = &ToolTasks { support: TaskSupport::Forbidden, write: write_execution };
        const OPTIONAL: &ToolTasks = &ToolTasks { support: TaskSupport::Optional, write: write_execution };
        const REQUIRED: &ToolTasks = &ToolTasks { support: TaskSupport::Required, write: write_execution };
        match support {
            TaskSupport::Forbidden => FORBIDDEN,
            TaskSupport::Optional => OPTIONAL,
            TaskSupport::Required => REQUIRED,
        }
    }
}

/// Writes the member `execution` of a tool (`2025-11-25`).
fn write_execution(support: TaskSupport, revision: Revision, out: &mut Writer<'_>) {
    if revision.has(WireFeature::Tasks) {
        out.begin_object_at("execution");
        out.field_string("taskSupport", support.as_str());
        out.end_object();
    }
}

view! {
    /// A task of a server.
    ///
    /// Specification: 2025-11-25, *Tasks*; the extension *Tasks* of `2026-07-28`.
    TaskView with meta
}

impl<'a> TaskView<'a> {
    /// Returns the id. With a stored id, an application can continue with the task after a restart.
    #[must_use]
    pub fn id(&self) -> Option<Str<'a>> {
        text(self.task(), "taskId")
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> Option<TaskStatus> {
        TaskStatus::from_json(text(self.task(), "status")?)
    }

    /// Returns a human-readable text about the status.
    #[must_use]
    pub fn message(&self) -> Option<Str<'a>> {
        text(self.task(), "statusMessage")
    }

    /// Returns the time of the creation, in ISO 8601.
    #[must_use]
    pub fn created_at(&self) -> Option<Str<'a>> {
        text(self.task(), "createdAt")
    }

    /// Returns the time of the last change, in ISO 8601.
    #[must_use]
    pub fn last_updated_at(&self) -> Option<Str<'a>> {
        text(self.task(), "lastUpdatedAt")
    }

    /// Returns the time from the creation to the removal of the task, in milliseconds. Returns `None` if the time is
    /// unlimited or missing.
    #[must_use]
    pub fn ttl(&self) -> Option<Millis> {
        let [long, short] = self.task().pick(["ttlMs", "ttl"]);
        long.or(short).and_then(duration)
    }

    /// Returns the suggested time between polls, in milliseconds.
    #[must_use]
    pub fn poll_interval(&self) -> Option<Millis> {
        poll_interval(self.task())
    }

    /// Returns a text that the model can use while the task runs (`2025-11-25`). Only the response that creates a task
    /// has such a text.
    #[must_use]
    pub fn immediate_response(&self) -> Option<Str<'a>> {
        text(self.meta()?, "io.modelcontextprotocol/model-immediate-response")
    }

    /// Returns the object with the members of the task. In `2025-11-25`, this object is a member of the response that
    /// creates the task.
    fn task(&self) -> Json<'a> {
        object(self.json, "task").unwrap_or(self.json)
    }
}

/// Returns the suggested time between polls in the members of a task.
pub(crate) fn poll_interval(task: Json<'_>) -> Option<Millis> {
    task.pick(["pollIntervalMs", "pollInterval"]).into_iter().flatten().find_map(duration)
}

/// The members of a task on the wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskMembers<'t> {
    pub(crate) id: &'t str,
    pub(crate) status: TaskStatus,
    /// A human-readable text about the status. The writer omits an empty text.
    pub(crate) message: &'t str,
    /// Unix time in milliseconds.
    pub(crate) created: Millis,
    pub(crate) updated: Millis,
    /// The time to live. `None` means an unlimited time.
    pub(crate) ttl: Option<Millis>,
    pub(crate) poll_interval: Millis,
}

impl TaskMembers<'_> {
    /// Writes the members into an open object. Only the names of durations depend on the revision.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        let [ttl, poll_interval] = match revision.has(WireFeature::TasksExtension) {
            true => ["ttlMs", "pollIntervalMs"],
            false => ["ttl", "pollInterval"],
        };
        out.field_string("taskId", self.id);
        out.field_string("status", self.status.as_str());
        if !self.message.is_empty() {
            out.field_string("statusMessage", self.message);
        }
        out.key("createdAt");
        write_timestamp(self.created, out);
        out.key("lastUpdatedAt");
        write_timestamp(self.updated, out);
        out.key(ttl);
        match self.ttl {
            Some(ttl) => out.unsigned(ttl.0),
            None => out.null(),
        }
        if self.poll_interval > Millis::ZERO {
            out.field_unsigned(poll_interval, self.poll_interval.0);
        }
    }
}

/// The last second of the year 9999. Later years have more than four digits.
const LAST_SECOND: u64 = 253_402_300_799;

/// Writes a Unix time in milliseconds as an ISO 8601 timestamp, such as `"2026-07-28T09:30:00.250Z"`.
fn write_timestamp(Millis(time): Millis, out: &mut Writer<'_>) {
    let (seconds, millis) = divide(time, 1000);
    let (minutes, second) = divide(seconds.min(LAST_SECOND), 60);
    let (hours, minute) = divide(minutes, 60);
    let (days, hour) = divide(hours, 24);
    let (year, month, day) = date(days);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let parts = [
        (0, 4, year),
        (5, 2, month),
        (8, 2, day),
        (11, 2, hour),
        (14, 2, minute),
        (17, 2, second),
        (20, 3, millis),
    ];
    for (start, length, value) in &parts {
        write_digits(text.get_mut(*start..).and_then(|text| text.get_mut(..*length)), *value);
    }
    out.string(crate::json::text_of(&text));
}

fn write_digits(target: Option<&mut [u8]>, value: u32) {
    let mut rest = u64::from(value);
    for digit in target.unwrap_or_default().iter_mut().rev() {
        let (quotient, remainder) = divide(rest, 10);
        let [remainder, ..] = remainder.to_le_bytes();
        *digit = b'0'.wrapping_add(remainder);
        rest = quotient;
    }
}

/// Returns year, month and day of the date `days` days after 1970-01-01 (proleptic Gregorian calendar).
///
/// The computation counts years from March, so that the leap day is the last day of a year.
fn date(days: u64) -> (u32, u32, u32) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_OF_400_YEARS: u32 = 146_097;
    let (cycles, day) = divide(days.saturating_add(DAYS_TO_1970), DAYS_OF_400_YEARS);
    let leap_days = part(day, 1460).wrapping_sub(part(day, 36_524)).wrapping_add(part(day, 146_096));
    let year = part(day.wrapping_sub(leap_days), 365);
    let days_before = year.wrapping_mul(365).wrapping_add(year / 4).wrapping_sub(part(year, 100));
    let day = day.wrapping_sub(days_before);
    let month = part(day.wrapping_mul(5).wrapping_add(2), 153);
    let day = day.wrapping_sub(part(month.wrapping_mul(153).wrapping_add(2), 5)).wrapping_add(1);
    let month = if month < 10 { month.wrapping_add(3) } else { month.wrapping_sub(9) };
    let cycles = u32::try_from(cycles).unwrap_or(u32::MAX);
    let year = year.wrapping_add(cycles.wrapping_mul(400)).wrapping_add(u32::from(month <= 2));
    (year, month, day)
}

/// Returns the quotient. Calls `divide`, because small programs link that function anyway.
fn part(value: u32, by: u32) -> u32 {
    divide(value.into(), by).0.try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferMut;
    use std::string::String;

    fn timestamp(time: u64) -> String {
        let mut text = [0; 32];
        let mut out = Writer::new(BufferMut::Lent(&mut text), 0, 32);
        write_timestamp(Millis(time), &mut out);
        String::from_utf8(out.written().to_vec()).unwrap()
    }

    /// TC-14: timestamps are ISO 8601.
    #[test]
    fn timestamp_is_the_date_of_its_unix_time() {
        for (time, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_785_231_000_250, "2026-07-28T09:30:00.250Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
            (u64::MAX, "9999-12-31T23:59:59.615Z"),
        ] {
            assert_eq!(timestamp(time), std::format!("\"{expected}\""));
        }
    }

    #[test]
    fn durations_of_a_task_are_json_integers() {
        for (members, ttl, interval) in [
            (r#"{"ttlMs":6e4,"pollIntervalMs":1000.0}"#, Some(60_000), Some(1000)),
            (r#"{"ttl":18446744073709551616,"pollInterval":1e30}"#, Some(u64::MAX), Some(u64::MAX)),
            (r#"{"ttlMs":null,"pollIntervalMs":null,"pollInterval":5000}"#, None, Some(5000)),
            (r#"{"ttlMs":1.5,"pollIntervalMs":-1}"#, None, None),
        ] {
            let task = TaskView::from_json(Json::trusted(members.as_bytes()));
            assert_eq!(
                (task.ttl(), task.poll_interval()),
                (ttl.map(Millis), interval.map(Millis)),
                "{members}"
            );
        }
    }

    #[test]
    fn consecutive_days_have_consecutive_dates() {
        let mut last = date(0);
        for day in 1..150_000 {
            let (year, month, day) = date(day);
            let next = (last.0, last.1, last.2 + 1);
            let is_next = (year, month, day) == next
                || day == 1 && last.2 >= 28 && (month == last.1 + 1 && year == last.0)
                || (month, day) == (1, 1) && (last.1, last.2) == (12, 31) && year == last.0 + 1;
            assert!(is_next, "{last:?} {year}-{month}-{day}");
            last = (year, month, day);
        }
    }
}
