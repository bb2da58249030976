//! Proptest strategies for server and pair operations.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

use super::operation::{
    Behavior, Changed, Id, Message, Operation, Question, Reaction, Request, TaskAction, TaskMethod, What,
};
use super::server::Setup;
use super::{Movement, client, pair, tasks};

/// Selects one of the values.
pub(crate) fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> BoxedStrategy<T> {
    proptest::sample::select(values.to_vec()).boxed()
}

/// Generates sizes and order of reads and writes, and the kind and size of the receive buffer.
pub fn movement() -> impl Strategy<Value = Movement> {
    (
        any::<bool>(),
        one_of(&[0, 1, 2, 5, 13, 100]),
        one_of(&[0, 1, 3, 50]),
        any::<bool>(),
        one_of(&[0, 1, 7, 300, 5000]),
    )
        .prop_map(|(grown, read, write, reads_first, spare)| Movement {
            grown,
            read,
            write,
            reads_first,
            spare,
        })
}

/// Generates server configurations.
pub fn server() -> impl Strategy<Value = Setup> {
    let rx = weighted(0.6, 400..1500u16);
    let flags =
        (any::<bool>(), any::<bool>(), any::<bool>(), weighted(0.1, Just(())), any::<bool>(), any::<bool>());
    (rx, one_of(&[0, 1, 500, 3000]), one_of(&[0, 1, 500]), 0..6u8, flags, weighted(0.7, tasks())).prop_map(
        |(rx, tx, room, slots, (batches, pings, restarts, strict, has_dynamic_lists, grown), tasks)| Setup {
            rx,
            tx,
            room,
            slots,
            batches,
            pings,
            restarts,
            strict: strict.is_some(),
            has_dynamic_lists,
            grown,
            tasks,
        },
    )
}

fn tasks() -> impl Strategy<Value = tasks::Setup> {
    (one_of(&[1, 2, 3, 3, 0]), any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(slots, automatic, keeps, notifies)| tasks::Setup { slots, automatic, keeps, notifies })
}

fn task_method() -> impl Strategy<Value = TaskMethod> {
    use TaskMethod::{Cancel, Get, List, Result, Update};
    one_of(&[Get, Get, Get, Result, Result, Cancel, Update, List])
}

pub(crate) fn behavior() -> impl Strategy<Value = Behavior> {
    prop_oneof![
        3 => Just(Behavior::Answer),
        4 => one_of(&[0u8, 0, 1, 5, 50]).prop_map(Behavior::Defer),
        4 => Just(Behavior::Task),
        4 => one_of(&[
            Behavior::Error, Behavior::Drop, Behavior::Busy, Behavior::Progress, Behavior::Log,
            Behavior::Change, Behavior::Needs, Behavior::Lacks, Behavior::Large, Behavior::Unbalanced,
        ]),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        8 => behavior().prop_map(What::Call),
        2 => behavior().prop_map(What::Read),
        2 => behavior().prop_map(What::Prompt),
        1 => behavior().prop_map(What::Complete),
        2 => (0..4u8).prop_map(What::List),
        2 => Just(What::Ping),
        1 => behavior().prop_map(What::Own),
        5 => (task_method(), 0..3u8).prop_map(|(method, nth)| What::Task(method, nth)),
        2 => Just(What::Listen),
        1 => (0..6u8, 0..16u8).prop_map(|(revision, can)| What::Initialize(revision, can)),
        1 => one_of(&[What::Discover, What::Unknown, What::Subscribe(true), What::Subscribe(false)]),
        1 => (0..4u8).prop_map(What::Level),
        1 => (0..60u8).prop_map(What::Deep),
    ]
}

fn id() -> impl Strategy<Value = Id> {
    prop_oneof![
        8 => Just(Id::Text),
        6 => Just(Id::Number),
        1 => (0..4u8).prop_map(Id::Again),
        1 => prop_oneof![Just(Id::Long), (0..5u8).prop_map(Id::None)],
    ]
}

pub(crate) fn filler() -> impl Strategy<Value = u16> {
    prop_oneof![6 => Just(0u16), 1 => 0..2000u16]
}

/// Generates requests of a client.
pub fn request() -> impl Strategy<Value = Request> {
    (what(), id(), any::<bool>(), any::<bool>(), filler(), 0..3u8).prop_map(
        |(what, id, stateless, progress, filler, order)| Request {
            what,
            id,
            stateless,
            progress,
            filler,
            order,
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let reaction = prop_oneof![
        4 => filler().prop_map(Reaction::Result),
        3 => one_of(&[Reaction::Error, Reaction::Malformed(true), Reaction::Malformed(false), Reaction::Text]),
    ];
    prop_oneof![
        12 => request().prop_map(Message::Request),
        3 => (0..5u8).prop_map(Message::Cancel),
        2 => (0..3u8, reaction).prop_map(|(nth, reaction)| Message::Answer(nth, reaction)),
        1 => (0..3u8).prop_map(Message::Progress),
        1 => one_of(&[Message::Initialized, Message::RootsChanged, Message::Own]),
        2 => (0..12u8).prop_map(Message::Odd),
    ]
}

fn task_action() -> impl Strategy<Value = TaskAction> {
    use TaskAction::{Complete, Fail, Input, Keep, Large, Message, Progress, Remove};
    one_of(&[Complete, Complete, Fail, Keep, Keep, Input, Input, Large, Message, Progress, Remove])
}

/// Generates actions of the application.
fn application_action() -> impl Strategy<Value = Operation> {
    let question = one_of(&[
        Question::Ping,
        Question::Roots,
        Question::Form,
        Question::Page,
        Question::Sample,
        Question::Raw,
    ]);
    let changed = one_of(&[Changed::Tools, Changed::Resources, Changed::Prompts, Changed::Resource]);
    prop_oneof![
        8 => (0..4u8, behavior()).prop_map(|(nth, what)| Operation::Later(nth, what)),
        4 => (question, any::<Option<u8>>(), one_of(&[0u8, 0, 10, 100]))
            .prop_map(|(what, during, time)| Operation::Ask(what, during, time)),
        1 => (0..3u8).prop_map(Operation::CancelRequest),
        1 => (0..3u8).prop_map(Operation::EndSubscription),
        1 => (0..8u8).prop_map(Operation::Log),
        1 => Just(Operation::Notify),
        5 => (0..3u8, task_action()).prop_map(|(nth, action)| Operation::Task(nth, action)),
        3 => changed.prop_map(Operation::Changed),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        30 => message().prop_map(Operation::Send),
        4 => vec(message(), 0..5).prop_map(Operation::Batch),
        3 => (message(), any::<u16>(), any::<Option<u8>>())
            .prop_map(|(what, at, byte)| Operation::Damaged(what, at, byte)),
        1 => vec(any::<u8>(), 0..20).prop_map(Operation::Bytes),
        1 => one_of(&[3u8, 12]).prop_map(Operation::Noise),
        18 => application_action(),
        1 => (0..3u8).prop_map(Operation::Owner),
        5 => one_of(&[1u16, 20, 60, 100, 1000, 5000]).prop_map(Operation::Time),
        3 => any::<bool>().prop_map(Operation::Block),
    ]
}

/// Generates ends of a connection.
fn end() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::EndOfInput),
        Just(Operation::Broken),
        weighted(0.5, any::<u8>()).prop_map(Operation::Shutdown),
        Just(Operation::Reset),
    ]
}

/// Generates operations on one to three connections to one server. On each connection, a handshake usually comes first.
/// Fewer than `count` random operations precede the end, and at most five follow the end.
///
/// If `reads` is `true`, the client reads all output before and after the end of each connection. Two runs that move
/// bytes differently then have the same output, and can be compared.
pub fn operations(count: usize, reads: bool) -> impl Strategy<Value = Vec<Operation>> {
    let hello = (0..6u8, 0..16u8).prop_map(|(revision, can)| {
        let request = Request {
            what: What::Initialize(revision, can),
            id: Id::Text,
            stateless: false,
            progress: false,
            filler: 0,
            order: 0,
        };
        vec![Operation::Send(Message::Request(request)), Operation::Send(Message::Initialized)]
    });
    let connection = (weighted(0.8, hello), vec(operation(), 0..count), end(), vec(operation(), 0..6))
        .prop_map(move |(hello, operations, end, after)| {
            let before = if reads { vec![Operation::Block(false)] } else { Vec::new() };
            [hello.unwrap_or_default(), operations, before.clone(), vec![end], after, before].concat()
        });
    vec(connection, 1..4).prop_map(|connections| connections.join(&Operation::Reset))
}

/// Generates configurations of a client and a server.
pub fn pair() -> impl Strategy<Value = pair::Setup> {
    (client::strategy::client(), server()).prop_map(|(client, server)| pair::Setup {
        client: client::Setup { slots: client.slots.max(1), ..client },
        server,
    })
}

/// Generates operations on a connected pair.
///
/// In one third of the lists, no time passes and no line is damaged. In another third, time may pass. In the last
/// third, time may pass and lines may be damaged.
pub fn joined(count: usize) -> impl Strategy<Value = Vec<pair::Operation>> {
    prop_oneof![joined_by(count, 0, 0), joined_by(count, 4, 0), joined_by(count, 2, 8)]
}

/// Generates operations, with a weight `waits` for the passing of time and a weight `tampers` for damaged lines.
fn joined_by(count: usize, waits: u32, tampers: u32) -> impl Strategy<Value = Vec<pair::Operation>> {
    use pair::{Operation, Towards, Trick};
    let towards = || one_of(&[Towards::Server, Towards::Client]);
    let trick = one_of(&[Trick::Drop, Trick::Twice, Trick::Swap, Trick::Cut]);
    let operation = prop_oneof![
        20 => client::strategy::application_action().prop_map(Operation::Client),
        12 => application_action().prop_map(Operation::Server),
        10 => (towards(), any::<u8>()).prop_map(|(towards, count)| Operation::Arrive(towards, count)),
        6 => Just(Operation::Deliver),
        waits => one_of(&[1u16, 100, 700, 1000]).prop_map(Operation::Time),
        tampers => (towards(), any::<u8>(), trick)
            .prop_map(|(towards, nth, trick)| Operation::Tamper(towards, nth, trick)),
    ];
    let ends = [
        Operation::Client(client::operation::Operation::Shutdown),
        Operation::Server(super::operation::Operation::Shutdown(None)),
    ];
    // Most pairs connect first.
    (weighted(0.9, Just(Operation::Deliver)), vec(operation, 0..count), weighted(0.2, one_of(&ends)))
        .prop_map(|(first, moved, end)| first.into_iter().chain(moved).chain(end).collect())
}
