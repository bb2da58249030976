//! Message mode against a model: the owner of each id, and the requests that a closed stream or a cancellation ends.

use std::collections::BTreeMap;

use mcp_proto::server::{Event, Feature, Server, ServerConfig, Slot, Subscriptions, Tool, Tools};
use mcp_proto::{Action, Millis, OutboundMessageKind, Relation, StreamId, Ticket};
use proptest::prelude::*;

static TOOL: [Tool; 1] = [Tool::new("defer", r#"{"type":"object"}"#)];
static TOOLS: Tools = Tools::new(&TOOL);
static FEATURES: [&dyn Feature; 2] = [&TOOLS, &Subscriptions];
static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

const SLOTS: usize = 4;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// An operation of the clients or of the application. The numbers of streams begin at 1, because 0 stands for
/// the session.
#[derive(Debug, Clone)]
enum Operation {
    /// A call of the stateless era or of the session. The application defers the call.
    Call {
        stream: u32,
        id: u8,
        stateless: bool,
    },
    Listen {
        stream: u32,
        id: u8,
    },
    Cancel {
        stream: u32,
        id: u8,
    },
    Close {
        stream: u32,
    },
    /// The application responds to one of the open calls.
    Reply {
        nth: usize,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let (stream, id) = (1u32..4, 0u8..3);
    prop_oneof![
        4 => (stream.clone(), id.clone(), any::<bool>())
            .prop_map(|(stream, id, stateless)| Operation::Call { stream, id, stateless }),
        1 => (stream.clone(), id.clone()).prop_map(|(stream, id)| Operation::Listen { stream, id }),
        2 => (stream.clone(), id).prop_map(|(stream, id)| Operation::Cancel { stream, id }),
        2 => stream.prop_map(|stream| Operation::Close { stream }),
        2 => (0usize..SLOTS).prop_map(|nth| Operation::Reply { nth }),
    ]
}

/// Output of the server: responses as (stream, error code), and the tickets of opened and cancelled requests.
#[derive(Default)]
struct Reported {
    responses: Vec<(u32, Option<i32>)>,
    opened: Vec<Ticket>,
    cancelled: Vec<Ticket>,
}

fn run(server: &mut Server<'_>) -> Reported {
    let mut reported = Reported::default();
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => {
                let (out, _) = io.split();
                let Some(message) = out.frame() else { return reported };
                let code = match message.kind() {
                    OutboundMessageKind::Error { code } => Some(code),
                    _ => None,
                };
                if message.kind().is_response() {
                    let Relation::Request(StreamId(stream)) = message.relation() else {
                        panic!("{:?}", message.relation())
                    };
                    reported.responses.push((stream, code));
                }
                let n = out.bytes().len();
                out.sent(n);
            }
            Action::Event => match server.event().expect("an event is pending") {
                Event::Call(call) => match call.defer(None) {
                    Ok(ticket) => reported.opened.push(ticket),
                    Err(call) => call.busy(),
                },
                Event::Listening(listening) => reported.opened.push(listening.ticket()),
                Event::Cancelled { ticket, .. } => reported.cancelled.push(ticket),
                _ => {}
            },
            Action::Closed => return reported,
        }
    }
}

fn post(server: &mut Server<'_>, stream: u32, message: &str) -> Reported {
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("nothing else is due") };
    io.split().1.message(message.as_bytes(), StreamId(stream)).expect("the server is ready");
    run(server)
}

/// A request in flight of the model. `stream` is the stream of the request, even if the session owns the request.
#[derive(Debug, Clone, Copy)]
struct Open {
    ticket: Ticket,
    stream: u32,
    is_call: bool,
}

proptest! {
    #[test]
    fn streams_own_their_requests(operations in proptest::collection::vec(operation(), 0..40)) {
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        let (mut slots, mut text) = ([Slot::EMPTY; SLOTS], [0; SLOTS * 16]);
        let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
        let mut server = server.in_flight(&mut slots, &mut text).unwrap();
        post(&mut server, 9, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#);
        post(&mut server, 9, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);

        let mut open: BTreeMap<(u32, u8), Open> = BTreeMap::new();
        for operation in operations {
            match operation {
                Operation::Call { .. } | Operation::Listen { .. } => {
                    let (stream, id, owner, is_call) = match operation {
                        Operation::Call { stream, id, stateless } => (stream, id, if stateless { stream } else { 0 }, true),
                        Operation::Listen { stream, id } => (stream, id, stream, false),
                        _ => unreachable!("matched above"),
                    };
                    let meta = if owner == 0 { "" } else { META };
                    let comma = if owner == 0 { "" } else { "," };
                    let message = if is_call {
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"defer"{comma}{meta}}}}}"#)
                    } else {
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{}},{meta}}}}}"#)
                    };
                    let reported = post(&mut server, stream, &message);
                    if open.contains_key(&(owner, id)) {
                        prop_assert_eq!(&reported.responses, &[(stream, Some(-32600))], "a duplicate");
                    } else if open.len() == SLOTS {
                        prop_assert_eq!(&reported.responses, &[(stream, Some(-32603))], "no slot is free");
                    } else {
                        prop_assert!(reported.responses.is_empty());
                        let [ticket] = reported.opened[..] else { panic!("one request was opened") };
                        open.insert((owner, id), Open { ticket, stream, is_call });
                    }
                    prop_assert!(reported.cancelled.is_empty());
                }
                Operation::Cancel { stream, id } => {
                    let reported = post(&mut server, stream, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
                    let ended = open.remove(&(stream, id)).or_else(|| open.remove(&(0, id)));
                    prop_assert_eq!(reported.cancelled, ended.map(|ended| ended.ticket).into_iter().collect::<Vec<_>>());
                    prop_assert!(reported.responses.is_empty());
                }
                Operation::Close { stream } => {
                    let Action::Io(io) = server.poll(Millis(0)) else { panic!("nothing else is due") };
                    io.split().1.stream_closed(StreamId(stream)).expect("the server is ready");
                    let mut cancelled = run(&mut server).cancelled;
                    let mut ended = Vec::new();
                    open.retain(|(owner, _), request| {
                        let ends = *owner == stream;
                        ended.extend(ends.then_some(request.ticket));
                        !ends
                    });
                    cancelled.sort();
                    ended.sort();
                    prop_assert_eq!(cancelled, ended);
                }
                Operation::Reply { nth } => {
                    let calls: Vec<_> = open.iter().filter(|(_, request)| request.is_call).map(|(key, request)| (*key, *request)).collect();
                    let Some((key, request)) = calls.get(nth) else { continue };
                    server.reply(request.ticket).expect("it is in flight").text("x");
                    prop_assert_eq!(run(&mut server).responses, vec![(request.stream, None)]);
                    open.remove(key);
                }
            }
            prop_assert_eq!(server.deferred(), open.len());
        }
    }
}
