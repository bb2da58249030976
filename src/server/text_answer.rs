//! The answer that most calls get, a result of one text, written straight through. It is for hosts: a small board writes it as
//! it writes every other result, and links nothing of this.

use crate::error::ProtocolError;
use crate::json::{WriteText, Writer};
use crate::protocol::revision::Revision;
use crate::server::config::ServerConfig;
use crate::server::features::tool_result::{write_end, write_text};
use crate::server::pending_event::RequestKind;
use crate::server::reply::{Context, Pending};
use crate::server::server_state::{ServerState, Shape};
use crate::server::write_message::begin_result;

impl ServerState<'_> {
    /// Answers a call of a tool with one text.
    #[inline(never)]
    pub(crate) fn answer_text(&mut self, pending: &Pending<'_>, text: &dyn WriteText, failed: bool) {
        let Context { revision, kind, batched, .. } = pending.context;
        let RequestKind::CallTool { pads } = kind else {
            return self.refuse_with(pending, ProtocolError::InvalidReply);
        };
        if batched || self.output.is_message_mode() {
            return self.answer_text_anywhere(pending, text, failed, pads);
        }
        let id = pending.source.id(&self.in_flight);
        let mut out = self.output.begin_line(self.budget);
        if revision >= Revision::V2026_07_28 || put_head(&mut out, id).is_none() {
            write_head(&mut out, id, self.info, revision);
        }
        out.inside(text);
        if failed | pads {
            write_tail(&mut out, failed, pads);
        } else {
            out.token("\"}]}}\n");
        }
        match out.finish() {
            Ok(to) => self.output.end_line(to),
            Err(_) => self.refuse_too_large(pending),
        }
        self.close(&pending.source);
    }

    /// The same in a batch or a frame.
    #[inline(never)]
    fn answer_text_anywhere(
        &mut self,
        pending: &Pending<'_>,
        text: &dyn WriteText,
        failed: bool,
        pads: bool,
    ) {
        self.answer(pending, Shape::Result, &mut |out| {
            write_text(out, text, failed, pads);
            true
        });
    }

    #[cold]
    #[inline(never)]
    fn refuse_too_large(&mut self, pending: &Pending<'_>) {
        let fault = self.too_large(pending.context.batched);
        self.write_fault(pending, fault, None);
        self.fault = Some(fault);
    }
}

/// All that stands before the text, at once, into room that is there.
#[inline]
fn put_head(out: &mut Writer<'_>, id: &[u8]) -> Option<()> {
    // It was seen to be one: there is no line break in it.
    let free = out.free()?.token(r#"{"jsonrpc":"2.0","id":"#)?.bytes(id)?;
    let to = free.token(r#","result":{"content":[{"type":"text","text":""#)?.end();
    out.filled(to, b'"');
    Some(())
}

/// The same for any id and any revision.
#[inline(never)]
fn write_head(out: &mut Writer<'_>, id: &[u8], info: &ServerConfig<'_>, revision: Revision) {
    begin_result(out, id, info, revision, Shape::Result);
    out.members(r#""content":[{"type":"text","text":""#);
}

/// All that stands behind the text, if there is more than the end.
#[inline(never)]
fn write_tail(out: &mut Writer<'_>, failed: bool, pads: bool) {
    out.token("\"}]");
    write_end(out, failed, pads);
    out.token("}}\n");
}
