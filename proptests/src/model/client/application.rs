//! Application of the modeled client: handles its events.

use mcp_proto::client::{Event, ServerRequest};
use mcp_proto::{Millis, Ticket};

use super::operation::Reaction;
use super::tickets::Tickets;

/// State of the application.
#[derive(Debug, Default)]
pub(in crate::model) struct AppState {
    pub(in crate::model) tickets: Tickets,
    pub(super) events: Vec<String>,
    /// All requests of the run, and whether each is a tool call.
    pub(super) begun: Vec<(Ticket, bool)>,
    /// All requests that required input, and whether each is a tool call.
    pub(super) needs: Vec<(Ticket, bool)>,
    /// All deferred requests of the server.
    pub(super) deferred: Vec<Ticket>,
}

/// Handles an event.
pub(super) fn handle_event(event: Event<'_>, app: &mut AppState) -> Result<(), String> {
    app.tickets.event(&event)?;
    match event {
        Event::ServerRequest(asked) => {
            let value: serde_json::Value = serde_json::from_str(asked.raw().raw()).unwrap_or_default();
            app.events.push(format!("! asked {}", asked.raw()));
            return react(asked, &value, app);
        }
        Event::Connected(connected) => {
            app.tickets.server = Some((connected.capabilities(), connected.revision()));
            app.events.push(format!("! connected {}", connected.revision()));
        }
        Event::InputRequired(it) => {
            let tool = app.begun.iter().any(|begun| *begun == (it.ticket(), true));
            app.needs.push((it.ticket(), tool));
            app.events.push(format!("! {it:?}"));
        }
        other => app.events.push(format!("! {other:?}")),
    }
    Ok(())
}

/// Reacts to a request of the server. The params name the reaction.
fn react(mut asked: ServerRequest<'_>, value: &serde_json::Value, app: &mut AppState) -> Result<(), String> {
    let id = value["k"].to_string();
    match value["how"].as_str().unwrap_or_default() {
        "Answer" => asked.roots(|roots| roots.add("file:///a", "a")),
        "Large" => asked.error(1, "x".repeat(5000)),
        "Drop" => drop(asked),
        "Progress" => {
            let sent = asked.progress(1, None, "a");
            app.events.push(format!("! progress: {sent:?}"));
            asked.decline();
        }
        "Defer" => match asked.defer(Some(Millis(700))) {
            Ok(ticket) => {
                app.deferred.push(ticket);
                app.tickets.deferred(ticket, id)?;
            }
            Err(asked) => asked.cancel(),
        },
        _ => asked.decline(),
    }
    Ok(())
}

/// Reacts to a deferred request of the server. Returns whether the reaction sends a response.
pub(super) fn reply_to_deferred(mut reply: ServerRequest<'_>, reaction: Reaction) -> bool {
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
