//! The self test tool: a deferred call that runs in steps.

use mcp_proto::{Level, Millis, SendError, Server, Ticket};

use super::Hardware;

const STEPS: u8 = 10;
const PAUSE: Millis = Millis(50);

/// A running self test and its deferred call.
pub(super) struct SelfTest {
    pub(super) ticket: Ticket,
    done: u8,
    pub(super) next: Millis,
}

impl SelfTest {
    pub(super) fn new(ticket: Ticket, now: Millis) -> SelfTest {
        SelfTest { ticket, done: 0, next: now }
    }

    /// Runs the next step if it is due. Returns `None` if the test or its call has ended.
    pub(super) fn step(
        mut self,
        server: &mut Server<'_>,
        hardware: &mut dyn Hardware,
        now: Millis,
    ) -> Option<SelfTest> {
        if now < self.next {
            return Some(self);
        }
        let mut reply = match server.reply(self.ticket) {
            Ok(reply) => reply,
            // The transmit buffer is full. The test moves its deadline, because the main loop would otherwise spin.
            Err(SendError::Busy) => {
                self.next = now.plus(PAUSE);
                return Some(self);
            }
            Err(_) => return None,
        };
        if !hardware.test(self.done) {
            _ = reply.log(Level::Error, Some("self_test"), "a step has failed");
            reply.fail("the board is broken");
            return None;
        }
        self.done = self.done.saturating_add(1);
        self.next = now.plus(PAUSE);
        _ = reply.progress(self.done, Some(STEPS.into()), "testing");
        if self.done < STEPS {
            return Some(self);
        }
        _ = reply.log(Level::Info, Some("self_test"), "all steps are done");
        reply.text("test passed");
        None
    }
}
