//! Paginated lists of the server: cursors, page limits, end of a list.
//!
//! Specification: *Pagination*.

use crate::json::Json;
use crate::peer::request::OutboundState;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::Object;

use crate::client::client_state::ClientState;
use crate::client::event::Event;
use crate::client::page::{PromptsPage, ResourcesPage, SkillsPage, TemplatesPage, ToolsPage};
use crate::client::pending_event::PendingEvent;

/// A paginated list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
    Skills,
}

/// The properties of a list.
pub(crate) struct Properties {
    pub(crate) method: &'static str,
    /// The name of the member that contains the entries of a page.
    pub(crate) member: &'static str,
    /// The capability that a server with this list declares.
    pub(crate) capability: ServerCapabilities,
}

impl List {
    pub(crate) fn properties(self) -> Properties {
        use ServerCapabilities as C;
        let (method, member, capability) = match self {
            List::Tools => (methods::TOOLS_LIST, "tools", C::TOOLS),
            List::Resources => (methods::RESOURCES_LIST, "resources", C::RESOURCES),
            List::Templates => (methods::RESOURCES_TEMPLATES_LIST, "resourceTemplates", C::RESOURCES),
            List::Prompts => (methods::PROMPTS_LIST, "prompts", C::PROMPTS),
            List::Skills => (methods::SKILLS_LIST, "skills", C::SKILLS),
        };
        Properties { method: method.name, member, capability }
    }

    /// Builds the event for a page.
    pub(crate) fn page_event(self, ticket: Ticket, result: Json<'_>, last: bool) -> Event<'_> {
        match self {
            List::Tools => Event::Tools(ToolsPage { ticket, result, last }),
            List::Resources => Event::Resources(ResourcesPage { ticket, result, last }),
            List::Templates => Event::Templates(TemplatesPage { ticket, result, last }),
            List::Prompts => Event::Prompts(PromptsPage { ticket, result, last }),
            List::Skills => Event::Skills(SkillsPage { ticket, result, last }),
        }
    }
}

impl ClientState<'_> {
    /// Emits the event of a page. After any page but the last, queues the request for the next page, or fails the list.
    pub(crate) fn handle_page(&mut self, list: List, ticket: Ticket, result: Object<'_>) {
        // Before 2026-07-28, some servers end a list with an empty cursor. Since 2026-07-28, an empty cursor is valid.
        let accepts_empty = self.has(WireFeature::EmptyCursors) || self.config.empty_cursors;
        let cursor = result.get("nextCursor");
        let cursor = cursor.filter(|it| it.string().is_some_and(|text| accepts_empty || !text.is_empty()));
        let Some((outbound, cursor)) = self.peer.in_flight.outbound(ticket).copied().zip(cursor) else {
            self.peer.in_flight.release(ticket);
            return self.emit(PendingEvent::Page { ticket, list, result: result.span(), last: true });
        };
        let (_, last) = outbound.data.split_text(self.peer.in_flight.text(ticket));
        // After the first page, `last` is empty, because no cursor is stored yet. The JSON text of a cursor is never
        // empty.
        let repeated = last == cursor.bytes();
        let pages = outbound.data.partial_results.saturating_add(1);
        if repeated || pages >= self.config.pages {
            self.peer.fail_request(ticket, RequestFailure::EndlessList);
        } else if !self.peer.in_flight.set_text_after(
            ticket,
            outbound.data.meta_length.into(),
            cursor.bytes(),
        ) {
            self.peer.fail_request(ticket, RequestFailure::CursorTooLong);
        } else {
            if let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) {
                (outbound.data.partial_results, outbound.state) = (pages, OutboundState::NextPage);
            }
            // This deadline limits the wait for transmit space. A new timeout starts when the request is sent.
            self.peer.restart_timeout(ticket);
            self.peer.in_flight.enqueue(ticket);
        }
        self.emit(PendingEvent::Page { ticket, list, result: result.span(), last: false });
    }
}
