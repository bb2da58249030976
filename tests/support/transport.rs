//! Moves bytes between a machine and the test that plays its peer.

use std::collections::VecDeque;

use mcp_proto::server::{Event, Server};
use mcp_proto::{Action, Io, Machine, Millis, Receive, StreamId, Transmit};

/// Takes up to `most` bytes of the output. Returns the number of bytes.
pub(crate) fn take_output(out: Transmit<'_>, most: usize, output: &mut impl Extend<u8>) -> usize {
    let taken = out.bytes().len().min(most);
    output.extend(out.bytes()[..taken].iter().copied());
    out.sent(taken);
    taken
}

/// Passes up to `most` bytes to the machine, and advances `input`. Returns the number of bytes.
pub(crate) fn give_input(mut receive: Receive<'_>, most: usize, input: &mut &[u8]) -> usize {
    let given = receive.space().len().min(most).min(input.len());
    if given > 0 {
        receive.space()[..given].copy_from_slice(&input[..given]);
        receive.filled(given);
        *input = &input[given..];
    }
    given
}

/// Takes all output, and passes as much input as possible. Returns whether a byte moved.
pub(crate) fn exchange(io: Io<'_>, input: &mut &[u8], output: &mut Vec<u8>) -> bool {
    let (out, receive) = io.split();
    take_output(out, usize::MAX, output) + give_input(receive, usize::MAX, input) > 0
}

/// Passes all input to a server, and each event to `on_event`. Returns the output.
pub(crate) fn serve(
    server: &mut Server<'_>,
    mut input: &[u8],
    on_event: &mut dyn FnMut(Event<'_>),
) -> String {
    let mut output = Vec::new();
    loop {
        match server.poll(Millis(0)) {
            Action::Event => on_event(server.event().expect("a pending event")),
            Action::Io(io) => {
                if !exchange(io, &mut input, &mut output) {
                    break;
                }
            }
            Action::Closed => break,
        }
    }
    String::from_utf8(output).expect("UTF-8")
}

/// Polls once and passes `bytes`, which must fit. Does not transmit output.
#[track_caller]
pub(crate) fn feed(machine: &mut dyn Machine, now: Millis, mut bytes: &[u8]) {
    let Action::Io(io) = machine.poll(now) else { panic!("poll must return Io") };
    give_input(io.split().1, usize::MAX, &mut bytes);
    assert!(bytes.is_empty(), "the receive buffer is too small");
}

/// Polls once and takes up to `most` bytes of output.
#[track_caller]
pub(crate) fn take(machine: &mut dyn Machine, now: Millis, most: usize) -> Vec<u8> {
    let Action::Io(io) = machine.poll(now) else { panic!("poll must return Io") };
    let mut output = Vec::new();
    take_output(io.split().0, most, &mut output);
    output
}

/// Polls once and ends the input.
#[track_caller]
pub(crate) fn end_input(machine: &mut dyn Machine, now: Millis) {
    let Action::Io(io) = machine.poll(now) else { panic!("poll must return Io") };
    io.split().1.eof();
}

/// Transfer order if both directions are ready.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Order {
    /// Transfers in both directions in one step.
    Both,
    WriteFirst,
    ReadFirst,
}

/// Sizes and order of transfers, which must not affect the messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The maximum number of bytes that one step passes to the machine.
    pub(crate) read: usize,
    /// The maximum number of bytes that one step takes from the machine.
    pub(crate) write: usize,
    pub(crate) order: Order,
    /// Whether the transport transfers whole messages instead of lines.
    pub(crate) messages: bool,
}

impl Pace {
    /// Moves as many bytes as possible in each step.
    pub(crate) const FAST: Pace =
        Pace { read: usize::MAX, write: usize::MAX, order: Order::WriteFirst, messages: false };
}

/// The peer's handling of the machine's output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PeerInput {
    Open,
    /// The peer reads nothing.
    Blocked,
    /// Writing fails. The transport reports the failure without waiting for output.
    Broken,
    /// Writing fails. The transport reports the failure on the next write.
    BreaksOnWrite,
}

/// A connection, as the machine's peer sees it.
pub(crate) struct Transport {
    pub(crate) pace: Pace,
    /// Bytes from the peer that the machine has not received.
    pending: VecDeque<u8>,
    /// The input in message mode, one entry per message.
    messages: VecDeque<Vec<u8>>,
    /// Whether the machine must still receive the end of the input.
    pub(crate) ended: bool,
    pub(crate) peer_input: PeerInput,
    /// Output that the test has not taken yet.
    pub(crate) output: Vec<u8>,
}

impl Transport {
    pub(crate) fn new(pace: Pace) -> Transport {
        Transport {
            pace,
            pending: VecDeque::new(),
            messages: VecDeque::new(),
            ended: false,
            peer_input: PeerInput::Open,
            output: Vec::new(),
        }
    }

    /// Queues bytes from the peer. Has no effect in message mode.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.pending.extend(bytes);
    }

    /// Queues a line from the peer; in message mode, a message.
    pub(crate) fn write_line(&mut self, line: &[u8]) {
        self.pending.extend(line);
        self.pending.push_back(b'\n');
        self.messages.push_back(line.to_vec());
    }

    /// Starts a new connection. Keeps the untaken output and `PeerInput::Blocked`.
    pub(crate) fn reset(&mut self) {
        self.pending.clear();
        self.messages.clear();
        self.ended = false;
        if self.peer_input != PeerInput::Blocked {
            self.peer_input = PeerInput::Open;
        }
    }

    fn has_input(&self) -> bool {
        if self.pace.messages { !self.messages.is_empty() } else { !self.pending.is_empty() }
    }

    /// Performs one transfer, in one or both directions. A transfer may also end its direction. Returns `false` if no
    /// direction was ready.
    pub(crate) fn step(&mut self, io: Io<'_>) -> bool {
        let (out, mut receive) = io.split();
        assert!(
            receive.is_ready() || receive.space().is_empty(),
            "there is space, but the machine is not ready"
        );
        let can_read = receive.is_ready() && (self.has_input() || self.ended);
        let can_write = match self.peer_input {
            PeerInput::Open | PeerInput::BreaksOnWrite => !out.bytes().is_empty(),
            PeerInput::Blocked => false,
            PeerInput::Broken => true,
        };
        let (reads, writes) = match self.pace.order {
            Order::Both => (can_read, can_write),
            Order::WriteFirst => (can_read && !can_write, can_write),
            Order::ReadFirst => (can_read, can_write && !can_read),
        };
        if writes {
            self.take_from(out);
        }
        if reads {
            self.give_to(receive);
        }
        reads || writes
    }

    fn take_from(&mut self, out: Transmit<'_>) {
        if matches!(self.peer_input, PeerInput::Broken | PeerInput::BreaksOnWrite) {
            return out.broken();
        }
        if self.pace.messages {
            assert_eq!(out.frame().expect("a message").message(), out.bytes());
        }
        take_output(out, self.pace.write, &mut self.output);
        if self.pace.messages {
            self.output.push(b'\n');
        }
    }

    fn give_to(&mut self, receive: Receive<'_>) {
        if !self.has_input() {
            self.ended = false;
            receive.eof();
        } else if self.pace.messages {
            let message = self.messages.pop_front().expect("there is input");
            receive.message(&message, StreamId::NONE).expect("the machine is ready");
        } else {
            let given = {
                let mut input: &[u8] = self.pending.make_contiguous();
                give_input(receive, self.pace.read, &mut input)
            };
            assert!(given > 0, "a ready machine has space");
            self.pending.drain(..given);
        }
    }
}
