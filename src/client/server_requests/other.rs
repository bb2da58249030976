//! Results for methods of extensions, and error responses (handshake era).

use crate::json::{WriteBody, WriteText, Writer};
use crate::protocol::objects::application_json::{once, write_once};

use crate::client::server_requests::ServerRequest;
use crate::client::server_requests::input_request::InputKind;

impl ServerRequest<'_> {
    /// Responds to a request of an [extension](crate::client::InputRequest::Other) with a result. `members` writes the
    /// keys and values of the result.
    pub fn result_with(self, members: impl FnOnce(&mut Writer<'_>)) {
        let mut members = once(members);
        self.write_other(&mut |out: &mut Writer<'_>| out.members_checked(&mut members).is_ok());
    }

    /// Responds to a request of an extension with a result that serializes to an object.
    #[cfg(feature = "serde")]
    pub fn result<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.write_other(&mut |out: &mut Writer<'_>| out.serialize_members(value));
    }

    fn write_other(self, members: &mut dyn WriteBody) {
        match self.pending.context.kind {
            InputKind::Other => self.write_result(members),
            _ => self.refuse_wrong_kind(),
        }
    }

    /// Responds with a JSON-RPC error. `data` must write exactly one value, that of the member `data`.
    pub fn error_with(self, code: i32, message: impl WriteText, data: impl FnOnce(&mut Writer<'_>)) {
        let mut data = Some(data);
        self.write_error(code, &message, &mut |out: &mut Writer<'_>| {
            out.key("data");
            write_once(out, &mut data)
        });
    }

    /// Responds with an error. `data` writes the members after `message`, such as `data`.
    pub(super) fn write_error(self, code: i32, message: &dyn WriteText, data: &mut dyn WriteBody) {
        self.respond(Some(code), &mut |out: &mut Writer<'_>| {
            out.field_display("message", message);
            data.write(out)
        });
    }
}
