//! The answer that most calls get, a result of one text, written straight through. It is for hosts: a small board writes it as
//! it writes every other result, and links nothing of this.

use crate::fault::Fault;
use crate::json::{Text, Writer};
use crate::server::core::{Core, Shape};
use crate::server::plan::RequestKind;
use crate::server::reply::{Context, Pending};
use crate::server::tool_result::{write_end, write_text};
use crate::server::write::begin_result;
use crate::version::Revision;

/// What stands before the text.
const CONTENT: &str = r#""content":[{"type":"text","text":""#;

/// What stands behind it: the end of a line, too.
const LINE_END: &str = "\"}]}}\n";

impl Core<'_> {
    /// Answers a call of a tool with one text.
    #[inline(never)]
    pub(crate) fn answer_text(&mut self, pending: &Pending<'_>, text: &dyn Text, failed: bool) {
        let Context { revision, kind, batched, .. } = pending.context;
        let RequestKind::CallTool { pads } = kind else {
            return self.refuse_with(pending, Fault::InvalidReply);
        };
        if batched || self.output.uses_frames() {
            return self.answer(pending, Shape::Result, &mut |out| {
                write_text(out, text, failed, pads);
                true
            });
        }
        let room = self.room();
        let id = pending.source.id(&self.in_flight);
        let mut out = self.output.begin_line(room);
        if revision >= Revision::V2026_07_28 || put_head(&mut out, id).is_none() {
            begin_result(&mut out, id, self.info, revision, Shape::Result);
            out.members(CONTENT);
        }
        out.inside(text);
        if failed | pads {
            out.token("\"}]");
            write_end(&mut out, failed, pads);
            out.token("}}\n");
        } else {
            out.token(LINE_END);
        }
        match out.finish() {
            Ok(to) => self.output.end_line(to),
            Err(_) => self.refuse_too_large(pending),
        }
        self.close(&pending.source);
    }

    #[cold]
    #[inline(never)]
    fn refuse_too_large(&mut self, pending: &Pending<'_>) {
        let fault = self.too_large(pending.context.batched);
        self.write_fault(pending, fault, None);
        self.fault = Some(fault);
    }
}

/// All that stands before the text, at once: behind a short id, into room that is there.
#[inline]
fn put_head(out: &mut Writer<'_>, id: &[u8]) -> Option<()> {
    let free = out.free()?.token(r#"{"jsonrpc":"2.0","id":"#)?.json(id)?;
    let to = free.token(r#","result":{"content":[{"type":"text","text":""#)?.end();
    out.filled(to, b'"');
    Some(())
}
