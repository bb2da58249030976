//! Notifications of the host's own.

use crate::fault::NotNow;
use crate::frame::About;
use crate::json::Writer;
use crate::output::Overflow;
use crate::version::Era;

use super::Client;
use super::core::Core;

impl Client<'_> {
    /// Sends a notification that the machine does not send by itself. `params` writes its members, keys and values.
    ///
    /// It is for what a server has beyond the protocol: one that was modelled on the Language Server Protocol wants
    /// [`request`](Client::request) `shutdown`, its answer, and then the notification `exit`.
    ///
    /// # Errors
    /// [`NotNow::NotConnected`]: not yet, or not any more. [`NotNow::Unsupported`]: in `2026-07-28` clients send no
    /// notifications but cancellations. [`NotNow::Busy`]: there is no room yet;
    /// [`Event::Room`](crate::client::Event::Room) says when there is. [`NotNow::Unwritable`]: the parameters are larger than the
    /// transmit buffer, or not valid JSON.
    pub fn notify(&mut self, method: &str, params: impl FnMut(&mut Writer<'_>)) -> Result<(), NotNow> {
        let mut params = params;
        self.core.notify(method, &mut |out| out.members_checked(&mut params).is_ok())
    }
}

impl Core<'_> {
    fn notify(
        &mut self,
        method: &str,
        params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Result<(), NotNow> {
        if !self.is_connected() {
            return Err(NotNow::NotConnected);
        }
        if self.era() == Some(Era::Stateless) {
            return Err(NotNow::Unsupported);
        }
        if self.owes_initialized || self.is_promised() {
            self.wants_room = true;
            return Err(NotNow::Busy);
        }
        let room = self.room();
        let mut valid = true;
        let sent = self.send(About::NOTIFICATION, room, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","method":"#);
            out.string(method);
            let before = out.mark();
            out.key("params");
            out.begin_object();
            let empty = out.len();
            valid &= params(out);
            if !valid {
                out.fail();
            }
            if out.len() == empty && !out.overflowed() {
                out.rollback(before);
            } else {
                out.end_object();
            }
            out.token("}");
        });
        match sent {
            Ok(()) => Ok(()),
            Err(Overflow) if !valid || self.output.is_empty() => Err(NotNow::Unwritable),
            Err(Overflow) => {
                self.wants_room = true;
                Err(NotNow::Busy)
            }
        }
    }
}
