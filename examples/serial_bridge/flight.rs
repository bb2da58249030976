//! The client's requests that have no response yet.
//!
//! If requests are in flight at the end of the input, the bridge waits for a grace period before it ends the session.

use std::collections::HashSet;

use mcp_proto::rpc::{Message, MessageKind};

/// The requests in flight, by the JSON text of their ids.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    ids: HashSet<String>,
}

impl Flight {
    /// Records a line from the client.
    pub(crate) fn sent(&mut self, line: &[u8]) {
        let Ok(message) = Message::parse(line) else { return };
        let method = message.method().and_then(|method| method.string());
        let is = |name: &str| method.is_some_and(|method| method == *name);
        match message.kind() {
            // The board responds to a subscription only when the subscription ends. So the bridge does not wait for
            // this response.
            MessageKind::Request if !is("subscriptions/listen") => {
                self.ids.extend(message.id().map(|id| id.raw().to_owned()));
            }
            MessageKind::Notification if is("notifications/cancelled") => {
                if let Some(id) = message.params().and_then(|params| params.get("requestId")) {
                    self.ids.remove(id.raw());
                }
            }
            _ => {}
        }
    }

    /// Records a line from the board.
    pub(crate) fn received(&mut self, line: &[u8]) {
        let Ok(message) = Message::parse(line) else { return };
        if let (MessageKind::Response, Some(id)) = (message.kind(), message.id()) {
            self.ids.remove(id.raw());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}
