//! `poll`: moves messages between the exchanges and the core server.

use mcp_proto::server::Server;
use mcp_proto::{Action, Millis};

use super::HttpServer;
use super::chunked_responses::PieceStep;
use super::deliver::Delivery;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeId, Phase};
use super::policy::Policy;

/// Next step for the caller, returned by [`HttpServer::poll`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// An event of the core server is pending: call [`Server::event`], then poll again.
    Event,
    /// The exchange has new output, or has ended: see [`HttpServer::output`]. The caller may poll again before it has
    /// sent the output.
    Output(ExchangeId),
    /// Wait for the network, and poll again at this time at the latest. `None` means that there is no deadline.
    Wait(Option<Millis>),
    /// The core server is closed.
    Closed,
}

impl<P: Policy> HttpServer<'_, P> {
    /// Advances the server and returns the next step. `now` is the current time.
    #[inline(never)]
    pub fn poll(&mut self, server: &mut Server<'_>, now: Millis) -> Step {
        self.now = self.now.max(now);
        self.expire(server);
        loop {
            if self.has_new_pace
                && let Some(hook) = self.piece_hook
            {
                hook(self, PieceStep::Pace(server));
            }
            if let Some(id) = self.exchanges.take_ready() {
                return Step::Output(id);
            }
            let core_deadline = match server.poll(self.now) {
                Action::Event => return Step::Event,
                Action::Closed => return Step::Closed,
                Action::Io(io) => {
                    let deadline = io.deadline();
                    let (out, input) = io.split();
                    if let Some(frame) = out.frame() {
                        if self.route(&frame) {
                            out.sent(frame.message().len());
                        } else if !self.cut_ended() {
                            return Step::Wait(self.next_deadline(deadline));
                        }
                        continue;
                    }
                    if !input.is_ready() {
                        return Step::Wait(self.next_deadline(deadline));
                    }
                    deadline
                }
            };
            if !self.deliver_next(server) {
                return Step::Wait(self.next_deadline(core_deadline));
            }
        }
    }

    /// Passes the next message, or the end of a stream or session, to the core server. The core server must be ready
    /// for input. Returns `false` if there is nothing to pass, or if a session cannot end yet.
    #[inline(never)]
    fn deliver_next(&mut self, server: &mut Server<'_>) -> bool {
        if P::HANDSHAKE
            && let Some(key) = self.sessions.ending()
        {
            if self.end_exchanges(server, key) {
                return true;
            }
            if !self.deselect(server, key) {
                return false;
            }
            let Action::Io(io) = server.poll(self.now) else { return true };
            if io.split().1.stream_closed(key.stream()).is_ok() {
                self.sessions.forget_ending();
            }
            return true;
        }
        if P::HANDSHAKE && self.may_end_requests {
            self.end_cancelled_requests(server);
            return true;
        }
        let Some(index) = self.exchanges.queued() else { return false };
        let Some(slot) = self.exchanges.slot(index) else { return false };
        if slot.phase == Phase::Closing {
            let stream = slot.stream;
            let Action::Io(io) = server.poll(self.now) else { return true };
            if io.split().1.stream_closed(stream).is_ok() {
                self.exchanges.dequeue();
                self.release(index);
            }
            return true;
        }
        // If the client has disconnected before the delivery, drop its request, but still deliver its notification or
        // response.
        let is_dropped = slot.flags.has(Flags::DISCONNECTED) && !slot.flags.has(Flags::ONE_WAY);
        if is_dropped {
            self.exchanges.dequeue();
            self.release(index);
            return true;
        }
        match self.deliver(server, index, None) {
            // The core server has an event or a message, or a session has to end first.
            Delivery::Busy => true,
            Delivery::Done => {
                self.exchanges.dequeue();
                self.release_delivered(index);
                if self.exchanges.slot(index).is_some_and(|slot| slot.flags.has(Flags::DISCONNECTED)) {
                    self.release(index);
                }
                true
            }
        }
    }

    fn next_deadline(&self, core: Option<Millis>) -> Option<Millis> {
        self.own_deadline().into_iter().chain(core).min()
    }
}
