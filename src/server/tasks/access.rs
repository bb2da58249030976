//! `TaskAccess`: access for replies to calls that have become, or must become, a task.

use core::borrow::{Borrow, BorrowMut};
use core::ops::{Deref, DerefMut};

use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::{WriteBody, Writer};
use crate::peer::inbound::Source;
use crate::server::call::Call;
use crate::server::event::Event;
use crate::server::reply::{Act, Pending, StateAccess};
use crate::server::request_context::Context;
use crate::server::server_state::{ServerState, Shape};
use crate::server::tasks::automatic::{end_call, respond_at_once};
use crate::server::write_message::write_error_message;

/// The state of a server, with a second implementation of [`StateAccess`].
///
/// A reply accesses the [`ServerState`] itself, unless the request is a call that has become, or must become, a task.
/// Only the hooks of tasks create replies with this type, so servers without tasks do not link its implementation.
pub(crate) struct TaskAccess<'b>(pub(crate) ServerState<'b>);

impl<'b> Deref for TaskAccess<'b> {
    type Target = ServerState<'b>;

    fn deref(&self) -> &ServerState<'b> {
        &self.0
    }
}

impl<'b> DerefMut for TaskAccess<'b> {
    fn deref_mut(&mut self) -> &mut ServerState<'b> {
        &mut self.0
    }
}

impl<'b> Borrow<ServerState<'b>> for TaskAccess<'b> {
    fn borrow(&self) -> &ServerState<'b> {
        self
    }
}

impl<'b> BorrowMut<ServerState<'b>> for TaskAccess<'b> {
    fn borrow_mut(&mut self) -> &mut ServerState<'b> {
        self
    }
}

impl StateAccess for TaskAccess<'_> {
    fn with(&mut self, act: &mut dyn Act) {
        act.act(self);
    }

    fn respond(&mut self, pending: &Pending<'_>, shape: Shape, body: &mut dyn WriteBody) {
        match (pending.source, shape) {
            (Source::Slot(call), Shape::Result) => end_call(self, call, None, body),
            (Source::Slot(call), Shape::Error(code)) => end_call(self, call, Some(code), body),
            // A call that has become a task cannot require input, and cannot have a result of an extension's own type.
            (Source::Slot(call), _) => end_call(self, call, None, &mut |_: &mut Writer<'_>| false),
            (Source::Line { .. }, Shape::Result) => respond_at_once(self, pending, body),
            // After an error response, the call does not become a task.
            (Source::Line { .. }, _) => self.respond_and_close(pending, shape, body),
        }
    }

    fn refuse(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        match pending.source {
            Source::Slot(call) => {
                end_call(self, call, Some(error.response_code()), &mut |out: &mut Writer<'_>| {
                    write_error_message(out, &error.message());
                });
            }
            Source::Line { .. } => self.refuse_with(pending, error),
        }
    }

    #[cfg(feature = "alloc")]
    fn user(&self) -> u64 {
        self.0.user
    }
}

/// Creates the event of a call that must become a task.
pub(super) fn event<'e>(
    input: &'e mut LineDecoder<'_>,
    access: &'e mut TaskAccess<'_>,
    context: Context,
) -> Option<Event<'e>> {
    Call::event_with(input, access, context)
}
