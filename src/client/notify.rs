//! Notifications of the host's own.

use crate::fault::NotNow;
use crate::frame::About;
use crate::json::Writer;
use crate::output::Overflow;
use crate::types::input::write_request;
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
            write_notification(out, method, &mut |out| {
                valid &= params(out);
                valid
            });
        });
        sent.map_err(|Overflow| self.refused(valid))
    }

    /// Why a message of the host's was not sent: it is not valid, it is too large, or it has to wait for room.
    pub(crate) fn refused(&mut self, valid: bool) -> NotNow {
        if !valid || self.output.is_empty() {
            return NotNow::Unwritable;
        }
        self.wants_room = true;
        NotNow::Busy
    }
}

/// Writes a notification; without parameters if `params` writes none. It says whether they are valid.
pub(crate) fn write_notification(
    out: &mut Writer<'_>,
    method: &str,
    params: &mut dyn FnMut(&mut Writer<'_>) -> bool,
) {
    out.token(r#"{"jsonrpc":"2.0""#);
    if !write_request(out, method, params) {
        out.fail();
    }
    out.token("}");
}
