//! Negotiation of the revision for all pairs of revision sets.
use crate::support::pair::{ClientEvent, Pair};
use mcp_proto::client::{ClientConfig, Connect, Options, Slot};
use mcp_proto::server::{Feature, ServerConfig, Tool, Tools};
use mcp_proto::{Client, Era, Revision, Revisions, Server};

static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}"), Tool::new("slow", "{}")]);

static FEATURES: [&dyn Feature; 1] = [&TOOLS];

fn sets() -> impl Iterator<Item = Vec<Revision>> {
    (1..32u32).map(|bits| (0..5).filter(|bit| bits & (1 << bit) != 0).map(|bit| Revision::ALL[bit]).collect())
}

fn set(revisions: &[Revision]) -> Revisions {
    revisions.iter().copied().fold(Revisions::NONE, Revisions::with)
}

fn handshakes(revisions: &[Revision]) -> Vec<Revision> {
    revisions.iter().copied().filter(|it| it.era() == Era::Handshake).collect()
}

/// Returns the revision that the specification requires, or `None` if the negotiation finds no revision, which can
/// happen even if the sets have one in common.
fn expected(connect: Connect, client: &[Revision], server: &[Revision]) -> Option<Revision> {
    let stateless = Revision::V2026_07_28;
    if connect != Connect::Handshake && client.contains(&stateless) && server.contains(&stateless) {
        return Some(stateless);
    }
    let (ours, theirs) = (handshakes(client), handshakes(server));
    if connect == Connect::Stateless || theirs.is_empty() {
        return None;
    }
    // The client requests its newest handshake revision. A server without this revision offers its own newest one.
    let asked = *ours.last()?;
    if theirs.contains(&asked) {
        return Some(asked);
    }
    theirs.last().copied().filter(|offered| ours.contains(offered))
}

#[test]
fn pair_finds_the_common_revision() {
    for connect in [Connect::Automatic, Connect::Stateless, Connect::Handshake] {
        for ours in sets() {
            for theirs in sets() {
                let info = ClientConfig::new("client", "1").connect(connect).revisions(set(&ours));
                let server_info =
                    ServerConfig::new("server", "1").features(&FEATURES).revisions(set(&theirs));
                let (mut a, mut b, mut c, mut d) = ([0; 1024], [0; 1024], [0; 1024], [0; 2048]);
                let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 64]);
                let client = Client::new(&info, &mut a, &mut b).unwrap().in_flight(&mut slots, &mut text);
                let server = Server::new(&server_info, &mut c, &mut d).unwrap();
                let mut pair = Pair::new(client, server, 4096, 4096, 7);
                pair.run_until_idle(&mut |_| panic!());
                let shown = format!(
                    "{connect:?}: {ours:?} and {theirs:?}: {:?} {:?}",
                    pair.client_events, pair.server_events
                );
                match expected(connect, &ours, &theirs) {
                    Some(revision) => {
                        assert_eq!(pair.client_events, [ClientEvent::Connected(revision)], "{shown}");
                        if revision.era() == Era::Handshake {
                            assert_eq!(pair.server.revision(), Some(revision), "{shown}");
                        }
                        pair.client.list_tools(Options::DEFAULT).unwrap();
                        pair.client.call_json("echo", r#"{"a":1}"#, Options::DEFAULT).unwrap();
                        pair.run_until_idle(&mut |call| {
                            assert_eq!(call.revision(), revision);
                            let text = call.raw_arguments().to_string();
                            call.text(text);
                        });
                        assert_eq!(
                            pair.client_events[1],
                            ClientEvent::Page(vec!["echo".into(), "slow".into()], true)
                        );
                        assert!(
                            matches!(&pair.client_events[2], ClientEvent::Response(_, Ok(text)) if text == r#"{"a":1}"#),
                            "{:?}",
                            pair.client_events
                        );
                    }
                    None => {
                        assert!(
                            matches!(&pair.client_events[..], [ClientEvent::Failed(_), ClientEvent::Closed]),
                            "{shown}"
                        );
                    }
                }
            }
        }
    }
}
