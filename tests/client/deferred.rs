//! Deferred server requests of the handshake era: replies, cancellation, timeouts.
use std::cell::RefCell;
use std::rc::Rc;

use crate::support::client::{Setup, Wire};
use mcp_proto::client::{Options, ServerRequest};
use mcp_proto::{ClientCapabilities as C, Decimal, Millis, Revision, SendError, Ticket};

const ALL: C = C::ROOTS_LIST_CHANGED
    .with(C::ROOTS)
    .with(C::SAMPLING)
    .with(C::SAMPLING_TOOLS)
    .with(C::ELICITATION_FORM)
    .with(C::ELICITATION_URL);

const ROOTS: &str = r#"{"id":1,"method":"roots/list"}"#;
const FORM: &str = r#"{"id":1,"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}"#;

fn setup() -> Setup {
    Setup::handshake().declares(ALL)
}

/// Defers each server request and records its ticket.
fn defers(wire: &mut Wire, time: Option<Millis>) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    wire.on_server_request(move |asked| {
        let ticket = asked.defer(time).unwrap();
        kept.borrow_mut().push(ticket);
        Some(ticket)
    });
    tickets
}

#[test]
fn deferred_request_is_answered_once_by_ticket() {
    setup().run(|wire| {
        wire.connect();
        let tickets = defers(wire, None);
        wire.server(FORM).heard(&["asked form Name?"]).sent(&[]);
        let ticket = tickets.borrow()[0];
        assert!(wire.client.is_pending(ticket));
        assert_eq!(wire.client.cancel(ticket, ""), Err(SendError::Gone), "it is not the host's request");
        // Other traffic continues.
        wire.call("add", Options::DEFAULT).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
        wire.client.reply(ticket).unwrap().accept(|content| content.field_string("name", "x"));
        wire.pump();
        wire.sent(&[r#"{"id":1,"result":{"action":"accept","content":{"name":"x"}}}"#]);
        assert_eq!(wire.client.reply(ticket).err(), Some(SendError::Gone));
        assert!(!wire.client.is_pending(ticket));
        assert_eq!((wire.client.pending(), wire.deadline), (0, None));
    });
}

#[test]
fn duplicate_id_of_a_deferred_request_is_refused() {
    setup().run(|wire| {
        wire.connect();
        let tickets = defers(wire, None);
        wire.server(r#"{"id":"a","method":"roots/list"}"#).heard(&["asked roots"]);
        let refused = r#"{"id":"\u0061","error":{"code":-32600,"message":"Invalid request: a request with this id is still in flight"}}"#;
        for method in ["roots/list", "ping", "x"] {
            wire.server(&format!(r#"{{"id":"\u0061","method":"{method}"}}"#));
            wire.heard(&["fault DuplicateId"]).sent(&[refused]);
        }
        wire.server(r#"{"id":1,"method":"ping"}"#).sent(&[r#"{"id":1,"result":{}}"#]);
        // Requests of the client have their own ids.
        wire.call("add", Options::DEFAULT).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
        wire.client.reply(tickets.borrow()[0]).unwrap().roots(|_| {});
        wire.pump();
        wire.sent(&[r#"{"id":"a","result":{"roots":[]}}"#]);
    });
}

#[test]
fn cancelled_server_request_gets_no_response() {
    setup().run(|wire| {
        wire.connect();
        let tickets = defers(wire, None);
        wire.server(FORM).server(r#"{"id":"1","method":"roots/list"}"#);
        wire.heard(&["asked form Name?", "asked roots"]);
        let cancel = |id: &str, more: &str| {
            format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}{more}}}}}"#)
        };
        wire.server(&cancel("1", r#","reason":"too \u0073low""#)).heard(&["cancelled too slow"]);
        wire.server(&cancel("1", "")).heard(&["fault UnknownCancel"]);
        wire.server(&cancel(r#""1""#, r#","reason":7"#)).heard(&["cancelled"]);
        for ticket in tickets.borrow().iter() {
            assert_eq!(wire.client.reply(*ticket).err(), Some(SendError::Gone));
        }
        wire.sent(&[]).at(10_000).heard(&[]).sent(&[]);
        assert_eq!(wire.client.pending(), 0);
    });
}

#[test]
fn expired_server_request_gets_an_error_and_an_event() {
    setup().run(|wire| {
        wire.connect();
        let tickets = defers(wire, Some(Millis(700)));
        wire.server(FORM).heard(&["asked form Name?"]);
        assert_eq!(wire.deadline, Some(700));
        wire.at(699).heard(&[]);
        // The event is emitted at once; the error is sent when space is free.
        wire.peer_reads(false);
        let mut calls = 0;
        while wire.call("fill", Options::DEFAULT.timeout(Millis(90_000))).is_ok() {
            calls += 1;
        }
        wire.at(700).heard(&["expired"]);
        assert_eq!(wire.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        wire.server(r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#);
        wire.heard(&["fault UnknownCancel"]);
        wire.peer_reads(true);
        wire.pump();
        let sent = wire.sent_short();
        assert!(calls > 0);
        let late = r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the request was not finished in time"}}"#;
        assert_eq!(sent.iter().filter(|line| *line == late).count(), 1, "{sent:?}");
        wire.forget();
    });
}

#[test]
fn deferral_without_timeout_lasts_the_maximum() {
    setup().run(|wire| {
        wire.connect();
        defers(wire, None);
        wire.at(10).server(ROOTS).heard(&["asked roots"]);
        assert_eq!(wire.deadline, Some(5010));
        wire.at(5010).heard(&["expired"]).forget();
    });
}

#[test]
fn request_that_cannot_be_deferred_is_returned() {
    // No slot, and an id longer than the text of a slot.
    for (slots, text, id) in [(0, 0, "1".to_owned()), (1, 8, r#""a long one""#.to_owned())] {
        Setup { slots, text, ..setup() }.run(|wire| {
            wire.connect();
            wire.on_server_request(|asked| {
                let asked = asked.defer(None).unwrap_err();
                asked.roots(|_| {});
                None
            });
            wire.server(&format!(r#"{{"id":{id},"method":"roots/list"}}"#)).heard(&["asked roots"]);
            wire.sent(&[&format!(r#"{{"id":{id},"result":{{"roots":[]}}}}"#)]);
            assert_eq!(wire.client.pending(), 0);
        });
    }
}

#[test]
fn response_never_exceeds_its_reserved_space() {
    let long = |asked: ServerRequest<'_>| asked.error(-5, "x".repeat(500));
    Setup { reply_room: Some(300), ..setup() }.run(|wire| {
        wire.connect();
        wire.on_server_request(move |asked| {
            long(asked);
            None
        });
        wire.server(ROOTS).heard(&["asked roots", "fault ReplyTooLarge"]).sent(&[
            r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the answer is too large"}}"#,
        ]);
    });
    // By default the whole buffer.
    setup().run(|wire| {
        wire.connect();
        wire.on_server_request(move |asked| {
            long(asked);
            None
        });
        wire.server(ROOTS).heard(&["asked roots"]);
        assert_eq!(wire.sent_lines()[0].len(), 557);
    });
}

#[test]
fn server_request_waits_for_reserved_output_space() {
    setup().run(|wire| {
        wire.connect();
        wire.on_server_request(|asked| {
            asked.roots(|_| {});
            None
        });
        wire.peer_reads(false);
        wire.call("add", Options::DEFAULT).unwrap();
        wire.server(ROOTS).heard(&[]);
        assert_eq!(wire.call("more", Options::DEFAULT), Err(SendError::Busy));
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["asked roots", "room"]);
        assert_eq!(wire.sent_lines().len(), 2);
        wire.call("more", Options::DEFAULT).unwrap();
        wire.forget();
    });
    // Also not between `poll` and `event`.
    setup().run(|wire| {
        wire.connect();
        wire.on_server_request(|asked| {
            // As large as allowed.
            asked.error(-5, "x".repeat(4096 - 67));
            None
        });
        wire.call("a", Options::DEFAULT).unwrap();
        let tickets = wire.tickets_of("a");
        if wire.pace().read < 1000 {
            wire.forget();
            return;
        }
        wire.forget().stop_after(0).server(ROOTS);
        for _ in 0..3 {
            let _ = wire.client.poll(Millis(0));
        }
        assert_eq!(wire.call("more", Options::DEFAULT), Err(SendError::Busy));
        wire.client.cancel(tickets[0], "").unwrap();
        wire.pump();
        let heard = wire.heard_now();
        assert_eq!(heard, ["asked roots", "room"]);
        let sent = wire.sent_lines();
        assert_eq!(sent.len(), 2, "the answer and the cancellation");
        assert!(sent[0].len() > 4000, "{sent:?}");
    });
}

#[test]
fn busy_reply_succeeds_later() {
    setup().run(|wire| {
        wire.connect();
        let tickets = defers(wire, None);
        wire.server(ROOTS).heard(&["asked roots"]);
        let ticket = tickets.borrow()[0];
        wire.peer_reads(false);
        wire.call("add", Options::DEFAULT).unwrap();
        assert_eq!(wire.client.reply(ticket).err(), Some(SendError::Busy));
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["room"]).forget();
        wire.client.reply(ticket).unwrap().roots(|_| {});
        wire.pump();
        wire.sent(&[r#"{"id":1,"result":{"roots":[]}}"#]);
    });
}

#[test]
fn progress_is_sent_if_the_server_asked_for_it() {
    let with_token = r#"{"id":1,"method":"roots/list","params":{"_meta":{"progressToken":"t"}}}"#;
    for (revision, message) in [(Revision::V2025_11_25, r#","message":"half""#), (Revision::V2024_11_05, "")]
    {
        setup().revision(revision).run(|wire| {
            wire.connect();
            let tickets = Rc::new(RefCell::new(Vec::new()));
            let kept = tickets.clone();
            wire.on_server_request(move |mut asked| {
                asked.progress(1u32, Some(Decimal::new(4, 0)), "half").unwrap();
                assert_eq!(asked.progress(1u32, None, ""), Err(SendError::NotWanted), "it has not grown");
                let ticket = asked.defer(None).unwrap();
                kept.borrow_mut().push(ticket);
                Some(ticket)
            });
            wire.server(with_token).heard(&["asked roots"]).sent(&[&format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":"t","progress":1,"total":4{message}}}}}"#
            )]);
            let ticket = tickets.borrow()[0];
            let mut reply = wire.client.reply(ticket).unwrap();
            assert_eq!(reply.progress(1u32, None, ""), Err(SendError::NotWanted));
            reply.progress(2u32, None, "").unwrap();
            reply.roots(|_| {});
            wire.pump();
            wire.sent(&[
                r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":2}}"#,
                r#"{"id":1,"result":{"roots":[]}}"#,
            ]);
        });
    }
    setup().run(|wire| {
        wire.connect();
        wire.on_server_request(|mut asked| {
            assert_eq!(asked.progress(1u32, None, ""), Err(SendError::NotWanted));
            asked.roots(|_| {});
            None
        });
        wire.server(ROOTS).forget();
    });
}

#[test]
fn end_of_connection_cancels_deferred_requests() {
    setup().run(|wire| {
        wire.connect();
        let tickets = defers(wire, None);
        wire.server(ROOTS).heard(&["asked roots"]);
        wire.eof().heard(&["cancelled", "closed"]);
        assert_eq!(wire.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        wire.forget();
    });
}

#[test]
fn roots_change_is_sent_once_if_declared() {
    const CHANGED: &str = r#"{"method":"notifications/roots/list_changed"}"#;
    setup().run(|wire| {
        assert_eq!(wire.client.roots_changed(), Err(SendError::NotConnected));
        wire.connect();
        wire.client.roots_changed().unwrap();
        wire.client.roots_changed().unwrap();
        wire.pump();
        wire.sent(&[CHANGED]);
        wire.client.roots_changed().unwrap();
        wire.pump();
        wire.sent(&[CHANGED]);
    });
    for setup in [Setup::handshake().declares(C::ROOTS), Setup::automatic().declares(ALL)] {
        setup.run(|wire| {
            wire.connect();
            assert_eq!(wire.client.roots_changed(), Err(SendError::Unsupported));
        });
    }
}
