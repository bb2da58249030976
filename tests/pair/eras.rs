//! One server with a client of each era, in message mode.

use mcp_proto::client::{ClientConfig, Connect, Event, Options};
use mcp_proto::server::{self, Feature, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Buffer, Client, Millis, Relation, Revision, Server, StreamId};

static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}")]);
static FEATURES: [&dyn Feature; 1] = [&TOOLS];
static SERVER: ServerConfig = ServerConfig::new("server", "1").features(&FEATURES);

#[test]
fn one_server_serves_both_eras_together() {
    let infos = [Connect::Handshake, Connect::Stateless]
        .map(|connect| ClientConfig::new("client", "1").connect(connect));
    let mut clients = [0, 1].map(|at| {
        let client = Client::new(&infos[at], Buffer::grown(8000), Buffer::grown(8000)).unwrap();
        client.in_flight_grown(4).message_mode().unwrap()
    });
    let mut server =
        Server::new(&SERVER, Buffer::grown(8000), Buffer::grown(8000)).unwrap().message_mode().unwrap();
    let mut to_client: [Vec<Vec<u8>>; 2] = Default::default();
    let mut to_server: Vec<(StreamId, Vec<u8>)> = Vec::new();
    let (mut answers, mut revisions) = ([0, 0], [None, None]);
    for round in 0..400u32 {
        for (at, client) in clients.iter_mut().enumerate() {
            step(client, at, &mut to_client[at], &mut to_server, &mut answers, &mut revisions);
            if revisions[at].is_some() && round % 7 == at as u32 {
                let name = format!(r#"{{"from":{at}}}"#);
                let _ = client.call_json("echo", &name, Options::DEFAULT.with_progress());
            }
        }
        match server.poll(Millis(0)) {
            Action::Io(io) => {
                let (out, input) = io.split();
                if let Some(frame) = out.frame() {
                    // Messages without a request belong to the session.
                    let stream = match frame.relation() {
                        Relation::Request(StreamId(stream)) => stream as usize,
                        _ => 0,
                    };
                    to_client[stream].push(frame.message().to_vec());
                    let n = out.bytes().len();
                    out.sent(n);
                }
                if input.is_ready() && !to_server.is_empty() {
                    let (stream, message) = to_server.remove(0);
                    input.message(&message, stream).unwrap();
                }
            }
            Action::Event => {
                if let Some(server::Event::Call(mut call)) = server.event() {
                    let stream = call.stream();
                    let expected =
                        if stream == StreamId(0) { Revision::V2025_11_25 } else { Revision::V2026_07_28 };
                    assert_eq!(call.revision(), expected);
                    call.progress(1u32, None, "").unwrap();
                    let text = call.raw_arguments().get("from").unwrap().unsigned().unwrap();
                    assert_eq!(text, u64::from(stream.0));
                    call.text(text);
                }
            }
            Action::Closed => panic!(),
        }
    }
    assert_eq!(revisions, [Some(Revision::V2025_11_25), Some(Revision::V2026_07_28)]);
    assert!(answers[0] > 20 && answers[1] > 20, "{answers:?}");
}

fn step(
    client: &mut Client<'_>,
    at: usize,
    incoming: &mut Vec<Vec<u8>>,
    to_server: &mut Vec<(StreamId, Vec<u8>)>,
    answers: &mut [u32; 2],
    revisions: &mut [Option<Revision>; 2],
) {
    match client.poll(Millis(0)) {
        Action::Io(io) => {
            let (out, input) = io.split();
            if let Some(frame) = out.frame() {
                to_server.push((StreamId(at as u32), frame.message().to_vec()));
                let n = out.bytes().len();
                out.sent(n);
            }
            if input.is_ready() && !incoming.is_empty() {
                input.message(&incoming.remove(0), StreamId::NONE).unwrap();
            }
        }
        Action::Event => match client.event().unwrap() {
            Event::Connected(it) => revisions[at] = Some(it.revision()),
            Event::Response(end) => {
                assert!(end.tool_result().unwrap().text().unwrap() == *at.to_string().as_str());
                answers[at] += 1;
            }
            Event::Progress(_) => {}
            other => panic!("{other:?}"),
        },
        Action::Closed => panic!(),
    }
}
