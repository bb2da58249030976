//! Proptest strategies for client operations.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

use super::Setup;
use super::operation::{Answer, Call, Message, Operation, Question, Reaction, Wait};
use crate::model::strategy::{behavior, filler, one_of};

/// Generates client configurations.
pub fn client() -> impl Strategy<Value = Setup> {
    let rx = weighted(0.6, 400..1500u16);
    (
        rx,
        one_of(&[0, 1, 500, 3000]),
        any::<bool>(),
        0..6u8,
        one_of(&[0u8, 24, 80]),
        0..3u8,
        0..4u8,
        any::<u8>(),
        0..8u8,
        (weighted(0.2, Just(())), any::<bool>()),
    )
        .prop_map(|(rx, tx, grown, slots, text, connect, revision, can, declared, (pings, only))| {
            Setup {
                rx,
                tx,
                grown,
                slots,
                text,
                connect,
                revision,
                can,
                declared,
                pings: pings.is_some(),
                only,
            }
        })
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        8 => filler().prop_map(Answer::Good),
        2 => one_of(&[Answer::Page, Answer::Needs(true), Answer::Needs(false)]),
        2 => one_of(&[Answer::Text, Answer::Error, Answer::Malformed(true), Answer::Malformed(false), Answer::Strange]),
    ]
}

fn reaction() -> impl Strategy<Value = Reaction> {
    one_of(&[
        Reaction::Answer,
        Reaction::Decline,
        Reaction::Large,
        Reaction::Drop,
        Reaction::Progress,
        Reaction::Defer,
        Reaction::Defer,
    ])
}

fn message() -> impl Strategy<Value = Message> {
    let question =
        one_of(&[Question::Ping, Question::Roots, Question::Sample, Question::Form, Question::Unknown]);
    prop_oneof![
        12 => (0..5u8, answer()).prop_map(|(nth, answer)| Message::Answer(nth, answer)),
        2 => (0..5u8, answer()).prop_map(|(nth, answer)| Message::Again(nth, answer)),
        1 => (0..4u8).prop_map(Message::Progress),
        1 => (0..4u8).prop_map(Message::Acknowledge),
        1 => weighted(0.5, 0..4u8).prop_map(Message::Changed),
        1 => (0..4u8).prop_map(Message::Ends),
        6 => (question, reaction(), filler()).prop_map(|(what, how, filler)| Message::Ask(what, how, filler)),
        2 => (0..3u8).prop_map(Message::CancelRequest),
        2 => (0..14u8).prop_map(Message::Odd),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (behavior(), filler()).prop_map(|(what, filler)| Call::Tool(what, filler)),
        4 => (0..4u8).prop_map(Call::List),
        3 => behavior().prop_flat_map(|what| one_of(&[Call::Read(what), Call::Prompt(what), Call::Complete(what)])),
        3 => one_of(&[
            Call::Subscribe(true), Call::Subscribe(false), Call::Listen, Call::Listen, Call::Level, Call::Ping, Call::Own,
        ]),
    ]
}

/// Generates actions of the application.
pub(crate) fn application_action() -> impl Strategy<Value = Operation> {
    let wait =
        (one_of(&[0u8, 0, 10, 60]), any::<bool>()).prop_map(|(time, progress)| Wait { time, progress });
    prop_oneof![
        16 => (call(), wait).prop_map(|(call, wait)| Operation::Begin(call, wait)),
        3 => (0..5u8).prop_map(Operation::Cancel),
        3 => (0..2u8).prop_map(Operation::Resume),
        4 => (0..3u8, reaction()).prop_map(|(nth, reaction)| Operation::Later(nth, reaction)),
        1 => filler().prop_map(Operation::Notify),
        1 => Just(Operation::RootsChanged),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        24 => message().prop_map(Operation::Send),
        3 => vec(message(), 0..5).prop_map(Operation::Batch),
        2 => (message(), any::<u16>()).prop_map(|(message, at)| Operation::Cut(message, at)),
        1 => vec(any::<u8>(), 0..20).prop_map(Operation::Bytes),
        28 => application_action(),
        4 => one_of(&[1u16, 100, 300, 700, 1000, 5000]).prop_map(Operation::Time),
        3 => any::<bool>().prop_map(Operation::Block),
    ]
}

/// Generates ends of a connection.
fn end() -> impl Strategy<Value = Operation> {
    one_of(&[
        Operation::EndOfInput,
        Operation::Broken,
        Operation::Shutdown,
        Operation::Reset,
        Operation::Reconnect,
    ])
}

/// Generates operations on one to three connections of one client. On each connection, fewer than `count` random
/// operations precede the end, and at most five follow the end. A response to the connecting request usually comes
/// first. If `reads` is `true`, the server reads all output before and after the end.
pub fn operations(count: usize, reads: bool) -> impl Strategy<Value = Vec<Operation>> {
    let hello = weighted(0.9, Just(vec![Operation::Send(Message::Answer(0, Answer::Good(0)))]));
    let next = one_of(&[Operation::Reconnect, Operation::Reset]);
    let connection = (hello, vec(operation(), 0..count), end(), vec(operation(), 0..6), next).prop_map(
        move |(hello, operations, end, after, next)| {
            let before = if reads { vec![Operation::Block(false)] } else { Vec::new() };
            [hello.unwrap_or_default(), operations, before.clone(), vec![end], after, before, vec![next]]
                .concat()
        },
    );
    vec(connection, 1..4).prop_map(|connections| connections.concat())
}
