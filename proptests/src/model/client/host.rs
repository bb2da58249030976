//! Application of the modeled client: handles its events.

use mcp_proto::client::{Event, ServerRequest, ServerRequestReply};
use mcp_proto::{Millis, Ticket};

use super::operation::Reaction;
use super::tickets::Tickets;

/// What the host keeps.
#[derive(Debug, Default)]
pub(in crate::model) struct Notes {
    pub(in crate::model) tickets: Tickets,
    pub(super) events: Vec<String>,
    /// All requests that there ever were, and whether they are calls of tools; those that need input; and what was deferred.
    pub(super) begun: Vec<(Ticket, bool)>,
    pub(super) needs: Vec<(Ticket, bool)>,
    pub(super) deferred: Vec<Ticket>,
}

/// Handles an event.
pub(super) fn deal(event: Event<'_>, notes: &mut Notes) -> Result<(), String> {
    notes.tickets.event(&event)?;
    match event {
        Event::ServerRequest(asked) => {
            let value: serde_json::Value = serde_json::from_str(asked.raw().raw()).unwrap_or_default();
            notes.events.push(format!("! asked {}", asked.raw()));
            return react(asked, &value, notes);
        }
        Event::Connected(connected) => {
            notes.tickets.server = Some((connected.capabilities(), connected.revision()));
            notes.events.push(format!("! connected {}", connected.revision()));
        }
        Event::InputRequired(it) => {
            let tool = notes.begun.iter().any(|begun| *begun == (it.ticket(), true));
            notes.needs.push((it.ticket(), tool));
            notes.events.push(format!("! {it:?}"));
        }
        other => notes.events.push(format!("! {other:?}")),
    }
    Ok(())
}

/// What the question says is done with it.
fn react(mut asked: ServerRequest<'_>, value: &serde_json::Value, notes: &mut Notes) -> Result<(), String> {
    let id = value["k"].to_string();
    match value["how"].as_str().unwrap_or_default() {
        "Answer" => asked.roots(|roots| roots.add("file:///a", "a")),
        "Large" => asked.error(1, "x".repeat(5000)),
        "Drop" => drop(asked),
        "Progress" => {
            let told = asked.progress(1, None, "a");
            notes.events.push(format!("! progress: {told:?}"));
            asked.decline();
        }
        "Defer" => match asked.defer(Some(Millis(700))) {
            Ok(ticket) => {
                notes.deferred.push(ticket);
                notes.tickets.deferred(ticket, id)?;
            }
            Err(asked) => asked.cancel(),
        },
        _ => asked.decline(),
    }
    Ok(())
}

/// Whether it was answered.
pub(super) fn later(mut reply: ServerRequestReply<'_>, reaction: Reaction) -> bool {
    match reaction {
        Reaction::Answer => reply.roots(|_| {}),
        Reaction::Decline => reply.decline(),
        Reaction::Large => reply.error(1, "x".repeat(5000)),
        Reaction::Drop => return false,
        Reaction::Progress | Reaction::Defer => {
            let _ = reply.progress(1, None, "later");
            return false;
        }
    }
    true
}
