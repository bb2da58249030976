//! Connecting, listing and calling in every connect mode.
use mcp_proto::client::{self, ClientConfig, Connect, Options};
use mcp_proto::server::{self, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Client, Millis, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}"), Tool::new("slow", "{}")]);
static SERVER: ServerConfig = ServerConfig::new("server", "1").features(&[&TOOLS]);

#[test]
fn pair_connects_lists_and_calls_in_every_mode() {
    for connect in [Connect::Automatic, Connect::Stateless, Connect::Handshake] {
        let info = ClientConfig::new("client", "1").connect(connect);
        let (mut a, mut b, mut c, mut d) = ([0; 2048], [0; 2048], [0; 2048], [0; 2048]);
        let (mut slots, mut text) = ([client::Slot::EMPTY; 4], [0; 400]);
        let mut client = Client::new(&info, &mut a, &mut b).unwrap().in_flight(&mut slots, &mut text);
        let mut server = Server::new(&SERVER, &mut c, &mut d).unwrap();
        let (mut up, mut down) = (Vec::<u8>::new(), Vec::<u8>::new());
        let mut seen = Vec::new();
        for _ in 0..2000 {
            match client.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, mut input) = io.split();
                    let n = out.bytes().len().min(1);
                    up.extend(&out.bytes()[..n]);
                    out.sent(n);
                    if !down.is_empty() && input.is_ready() {
                        input.space()[0] = down.remove(0);
                        input.filled(1);
                    }
                }
                Action::Event => match client.event().unwrap() {
                    client::Event::Connected(it) => {
                        seen.push(format!("connected {}", it.revision()));
                        assert_eq!(
                            it.server_info().unwrap().get("name").unwrap().string().unwrap(),
                            "server"
                        );
                        client.list_tools(Options::DEFAULT).unwrap();
                        client.call_json("echo", r#"{"x":1}"#, Options::DEFAULT.with_progress()).unwrap();
                    }
                    client::Event::Tools(page) => {
                        seen.push(
                            page.tools()
                                .map(|tool| tool.name().unwrap().to_string())
                                .collect::<Vec<_>>()
                                .join(","),
                        );
                    }
                    client::Event::Response(end) => {
                        seen.push(end.tool_result().unwrap().text().unwrap().to_string());
                    }
                    client::Event::Progress(it) => seen.push(format!("progress {}", it.progress())),
                    other => panic!("{other:?}"),
                },
                Action::Closed => break,
            }
            match server.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, mut input) = io.split();
                    let n = out.bytes().len().min(1);
                    down.extend(&out.bytes()[..n]);
                    out.sent(n);
                    if !up.is_empty() && input.is_ready() {
                        input.space()[0] = up.remove(0);
                        input.filled(1);
                    }
                }
                Action::Event => match server.event().unwrap() {
                    server::Event::Call(mut call) => {
                        let text = format!("{} {}", call.name(), call.raw_arguments());
                        call.progress(1u32, None, "on it").unwrap();
                        call.text(text);
                    }
                    server::Event::Connected(_) | server::Event::Ready => {}
                    other => panic!("{other:?}"),
                },
                Action::Closed => break,
            }
        }
        let revision = if connect == Connect::Handshake { "2025-11-25" } else { "2026-07-28" };
        assert_eq!(
            seen,
            [
                format!("connected {revision}"),
                "echo,slow".into(),
                "progress 1".into(),
                r#"echo {"x":1}"#.into()
            ]
        );
    }
}
