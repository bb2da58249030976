//! Memory that is lent, and memory that grows: the same limits, and the same behavior below them.

use super::support::{Harness, LARGE, Request, Sizes, old_call};
use mcp_proto_http::server::{HttpConfig, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);

fn harness(grows: bool) -> Harness {
    Harness::with_sizes(
        HTTP,
        Sizes { exchanges: 40, sessions: 100, output: 64 * 1024, bodies: 3, replay: 2000, grows },
    )
}

/// A session is found by its id after the table has grown.
#[test]
fn sessions_survive_growth_of_the_table() {
    for grows in [false, true] {
        let mut harness = harness(grows);
        let sessions: Vec<String> = (0..100).map(|_| harness.initialize("2025-11-25")).collect();
        for session in &sessions {
            assert_eq!(harness.ask(&Request::old(old_call(1, "echo"), session)).status, 200, "{grows}");
        }
        // The table is full: the session that was idle for the longest time ends.
        let one_more = harness.initialize("2025-11-25");
        let status = |harness: &mut Harness, session: &str| {
            harness.ask(&Request::old(old_call(1, "echo"), session)).status
        };
        assert_eq!(status(&mut harness, &sessions[0]), 404, "{grows}");
        assert_eq!(status(&mut harness, &sessions[1]), 200, "{grows}");
        assert_eq!(status(&mut harness, &one_more), 200, "{grows}");
    }
}

#[test]
fn exchanges_are_refused_at_the_limit() {
    for grows in [false, true] {
        let mut harness = harness(grows);
        let session = harness.initialize("2025-11-25");
        let request = Request::old(old_call(1, "echo"), &session);
        let open: Vec<_> = (0..40).map(|_| harness.begin(&request).unwrap()).collect();
        assert_eq!(harness.begin(&request).unwrap_err().status, 503, "{grows}");
        assert_eq!(harness.http.open_exchanges(), 40);
        open.into_iter().for_each(|id| harness.http.close(id));
        assert_eq!(harness.ask(&request).status, 200, "{grows}");
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

/// In memory that grows, bodies and output have the same limits as in lent memory.
#[test]
fn bodies_and_output_grow_to_their_limits() {
    for grows in [false, true] {
        let mut harness = harness(grows);
        let session = harness.initialize("2025-11-25");
        let request = Request::old(old_call(1, "echo"), &session);
        let ids: Vec<_> = (0..4).map(|_| harness.begin(&request).unwrap()).collect();
        ids.iter().for_each(|id| harness.piece(*id, &request, b"{", false));
        let status: Vec<_> = ids.iter().map(|id| harness.reply(*id).status).collect();
        assert_eq!(status, [0, 0, 0, 503], "{grows}");
        let reply = harness.ask(&Request::old(old_call(2, "large"), &session));
        assert!(reply.status == 200 && reply.body.contains(LARGE), "{grows} {reply:?}");
    }
}
