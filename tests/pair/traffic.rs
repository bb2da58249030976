//! A client and a server under load, over narrow pipes.
use std::collections::HashMap;

use crate::support::FailureContext;
use crate::support::Random;
use crate::support::pair::{ClientEvent, Pair, ServerEvent};
use mcp_proto::client::{self, ClientConfig, Connect, Options};
use mcp_proto::server::{self, Limits, ServerConfig, Tool, Tools};
use mcp_proto::{Buffer, Client, Millis, SendError, Server, Ticket};

static TOOLS: Tools =
    Tools::new(&[Tool::new("large", "{}"), Tool::new("measure", "{}"), Tool::new("later", "{}")]);
static SERVER: ServerConfig = ServerConfig::new("server", "1")
    .features(&[&TOOLS])
    .limits(Limits::DEFAULT.with_deferred_timeout(Millis(1 << 40)));

const MODES: [Connect; 3] = [Connect::Automatic, Connect::Stateless, Connect::Handshake];
const PATIENT: Options = Options::DEFAULT.timeout(Millis(1 << 40)).maximum(Millis(1 << 40));

/// Runs two calls over pipes with a capacity of one byte: one returns a megabyte, the other sends one.
fn transfer_a_megabyte_each_way(client: Client<'_>, server: Server<'_>) {
    const MEGABYTE: usize = 1 << 20;
    let mut pair = Pair::new(client, server, 1, 1, 3);
    pair.run_until_idle(&mut |_| panic!());
    assert!(matches!(pair.client_events[..], [ClientEvent::Connected(_)]), "{:?}", pair.client_events);
    let large = pair.client.call_json("large", "{}", PATIENT).unwrap();
    let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(MEGABYTE));
    let measure = pair.client.call_json("measure", &arguments, PATIENT).unwrap();
    let text = "y".repeat(MEGABYTE);
    // Both machines step in turns, because random steps would only be slower.
    while pair.client_events.len() < 3 {
        pair.step_client();
        pair.step_server(&mut |call| match call.name() {
            "large" => call.text(&text),
            _ => {
                let length = call.raw_arguments().bytes().len();
                call.text(length);
            }
        });
    }
    assert_eq!(pair.client_events[1], ClientEvent::Response(large, Ok(text.clone())));
    assert_eq!(pair.client_events[2], ClientEvent::Response(measure, Ok(arguments.len().to_string())));
}

#[test]
fn megabyte_each_way_with_lent_buffers() {
    let info = ClientConfig::new("client", "1");
    let buffers = || vec![0; (1 << 20) + 4096];
    let (mut a, mut b, mut c, mut d) = (buffers(), buffers(), buffers(), buffers());
    let (mut slots, mut text) = ([client::Slot::EMPTY; 2], [0; 64]);
    let client = Client::new(&info, &mut a[..], &mut b[..]).unwrap().in_flight(&mut slots, &mut text);
    transfer_a_megabyte_each_way(client, Server::new(&SERVER, &mut c[..], &mut d[..]).unwrap());
}

#[test]
fn megabyte_each_way_with_grown_buffers() {
    let info = ClientConfig::new("client", "1").connect(Connect::Handshake);
    let buffer = || Buffer::grown(4 << 20);
    let client = Client::new(&info, buffer(), buffer()).unwrap().in_flight_grown(4);
    transfer_a_megabyte_each_way(client, Server::new(&SERVER, buffer(), buffer()).unwrap());
}

/// An open call.
struct Open {
    number: u64,
    progress: bool,
}

/// Runs many concurrent calls. The responses arrive in any order. Some calls report progress, and some are cancelled.
/// Each call that is not cancelled ends once, with its own response or a refusal.
fn interleaved(seed: u64, connect: Connect) {
    let _context = FailureContext(format!("seed {seed}, {connect:?}"));
    let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1);
    let info = ClientConfig::new("client", "1").connect(connect);
    let tx = 400 + random.below(3000);
    let (mut a, mut b) = (vec![0; 300 + random.below(900)], vec![0; tx]);
    let (mut c, mut d) = (vec![0; 700 + random.below(900)], vec![0; 600 + random.below(2000)]);
    let count = 1 + random.below(12);
    let (mut slots, mut text) = (vec![client::Slot::EMPTY; count], vec![0; 64 * count]);
    let (mut deferred, mut ids) = (vec![server::Slot::EMPTY; 8], vec![0; 8 * 64]);
    let client = Client::new(&info, &mut a[..], &mut b[..]).unwrap().in_flight(&mut slots, &mut text);
    let server =
        Server::new(&SERVER, &mut c[..], &mut d[..]).unwrap().in_flight(&mut deferred, &mut ids).unwrap();
    let (capacity, most) = (1 + random.below(600), 1 + random.below(300));
    let mut pair = Pair::new(client, server, capacity, most, seed);
    let mut open: HashMap<Ticket, Open> = HashMap::new();
    let mut waiting: Vec<(Ticket, u64)> = Vec::new();
    let (mut next, mut ended, mut cancelled, mut refused) = (0u64, 0, 0, 0);
    const CALLS: u64 = 60;
    let mut steps = 0u64;
    let mut connected = false;
    while ended + cancelled < CALLS {
        steps += 1;
        assert!(steps < 2_000_000, "it hangs: {} open, {} waiting", open.len(), waiting.len());
        let mut fresh = Vec::new();
        pair.step(&mut |call| {
            let number = call.raw_arguments().get("n").unwrap().unsigned().unwrap();
            if number % 5 == 0 {
                call.text(number);
            } else {
                match call.defer(None) {
                    Ok(ticket) => fresh.push((ticket, number)),
                    Err(call) => call.busy(),
                }
            }
        });
        waiting.append(&mut fresh);
        for server_events in pair.server_events.drain(..) {
            match server_events {
                ServerEvent::Cancelled(ticket) => waiting.retain(|it| it.0 != ticket),
                ServerEvent::Expired(_) => panic!("{server_events:?}"),
                ServerEvent::Other(text) => {
                    assert!(
                        ["Ready", "Connected", "Writable"].iter().any(|it| text.contains(it))
                            || (!connected && text.contains("ProtocolError")),
                        "{text}"
                    );
                }
            }
        }
        for client_events in pair.client_events.drain(..) {
            match client_events {
                ClientEvent::Connected(_) => connected = true,
                ClientEvent::Response(ticket, result) => {
                    let call = open.remove(&ticket).expect("the call is open");
                    match result {
                        Ok(text) => assert_eq!(text, call.number.to_string()),
                        Err(error) => {
                            assert!(error.contains("in flight"), "{error}");
                            refused += 1;
                        }
                    }
                    ended += 1;
                }
                ClientEvent::Progress(ticket) => assert!(open[&ticket].progress),
                ClientEvent::Room => {}
                other => panic!("{other:?}"),
            }
        }
        if connected && next < CALLS && random.below(8) == 0 {
            let progress = random.below(2) == 0;
            let options = if progress { PATIENT.with_progress() } else { PATIENT };
            match pair.client.call_json("later", &format!(r#"{{"n":{next}}}"#), options) {
                Ok(ticket) => {
                    assert!(open.insert(ticket, Open { number: next, progress }).is_none());
                    next += 1;
                }
                Err(why) => assert!(matches!(why, SendError::Busy | SendError::Full), "{why:?}"),
            }
        }
        if random.below(60) == 0
            && let Some(ticket) = open.keys().min().copied()
        {
            pair.client.cancel(ticket, "changed my mind").unwrap();
            assert_eq!(pair.client.cancel(ticket, ""), Err(SendError::Gone));
            open.remove(&ticket);
            cancelled += 1;
        }
        if !waiting.is_empty() && random.below(10) == 0 {
            let at = random.below(waiting.len());
            let (ticket, number) = waiting[at];
            match pair.server.reply(ticket) {
                Ok(mut reply) if random.below(2) == 0 => {
                    let _ = reply.progress(steps as u32, None, "");
                }
                Ok(reply) => {
                    reply.text(number);
                    waiting.swap_remove(at);
                }
                Err(why) => assert_eq!(why, SendError::Busy),
            }
        }
    }
    pair.run_until_idle(&mut |call| drop(call));
    assert_eq!((pair.client.pending(), open.len()), (0, 0));
    assert!(refused <= ended);
}

#[test]
fn each_call_ends_once_with_its_own_response() {
    for seed in 0..150 {
        for connect in MODES {
            interleaved(seed, connect);
        }
    }
}
