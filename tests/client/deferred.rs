//! Deferred server requests of the handshake era: replies, cancellation, timeouts.
use std::cell::RefCell;
use std::rc::Rc;

use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{InputRequest, Options, ServerRequest};
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
fn defers(harness: &mut ClientHarness, time: Option<Millis>) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    harness.on_server_request(move |asked| {
        let ticket = asked.defer(time).unwrap();
        kept.borrow_mut().push(ticket);
        Some(ticket)
    });
    tickets
}

#[test]
fn deferred_request_is_answered_once_by_ticket() {
    setup().run(|harness| {
        harness.connect();
        let tickets = defers(harness, None);
        harness.server_sends(FORM).events(&["asked form Name?"]).sent(&[]);
        let ticket = tickets.borrow()[0];
        assert!(harness.client.is_pending(ticket));
        assert_eq!(
            harness.client.cancel(ticket, ""),
            Err(SendError::Gone),
            "the ticket belongs to a server request"
        );
        // Other traffic continues.
        harness.call("add", Options::DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
        // The client has stored only the kind of the input, without the message. A second deferral has no effect.
        let request = harness.client.reply(ticket).unwrap();
        assert!(matches!(request.input(), InputRequest::Elicit(form) if form.message() == ""));
        let request = request.defer(None).unwrap_err();
        request.accept(|content| content.field_string("name", "x"));
        harness.pump();
        harness.sent(&[r#"{"id":1,"result":{"action":"accept","content":{"name":"x"}}}"#]);
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
        assert!(!harness.client.is_pending(ticket));
        assert_eq!((harness.client.pending(), harness.deadline), (0, None));
    });
}

#[test]
fn duplicate_id_of_a_deferred_request_is_refused() {
    setup().run(|harness| {
        harness.connect();
        let tickets = defers(harness, None);
        harness.server_sends(r#"{"id":"a","method":"roots/list"}"#).events(&["asked roots"]);
        let refused = r#"{"id":"\u0061","error":{"code":-32600,"message":"Invalid request: a request with this id is still in flight"}}"#;
        for method in ["roots/list", "ping", "x"] {
            harness.server_sends(&format!(r#"{{"id":"\u0061","method":"{method}"}}"#));
            harness.events(&["fault DuplicateId"]).sent(&[refused]);
        }
        harness.server_sends(r#"{"id":1,"method":"ping"}"#).sent(&[r#"{"id":1,"result":{}}"#]);
        // Requests of the client have their own ids.
        harness.call("add", Options::DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
        harness.client.reply(tickets.borrow()[0]).unwrap().roots(|_| {});
        harness.pump();
        harness.sent(&[r#"{"id":"a","result":{"roots":[]}}"#]);
    });
}

#[test]
fn cancelled_server_request_gets_no_response() {
    setup().run(|harness| {
        harness.connect();
        let tickets = defers(harness, None);
        harness.server_sends(FORM).server_sends(r#"{"id":"1","method":"roots/list"}"#);
        harness.events(&["asked form Name?", "asked roots"]);
        let cancel = |id: &str, more: &str| {
            format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}{more}}}}}"#)
        };
        harness.server_sends(&cancel("1", r#","reason":"too \u0073low""#)).events(&["cancelled too slow"]);
        harness.server_sends(&cancel("1", "")).events(&[]);
        harness.server_sends(&cancel(r#""1""#, r#","reason":7"#)).events(&["cancelled"]);
        for ticket in tickets.borrow().iter() {
            assert_eq!(harness.client.reply(*ticket).err(), Some(SendError::Gone));
        }
        harness.sent(&[]).at(10_000).events(&[]).sent(&[]);
        assert_eq!(harness.client.pending(), 0);
    });
}

#[test]
fn expired_server_request_gets_an_error_and_an_event() {
    setup().run(|harness| {
        harness.connect();
        let tickets = defers(harness, Some(Millis(700)));
        harness.server_sends(FORM).events(&["asked form Name?"]);
        assert_eq!(harness.deadline, Some(700));
        harness.at(699).events(&[]);
        // The client emits the event immediately, and sends the error when space is free.
        harness.peer_reads(false);
        let mut calls = 0;
        while harness.call("fill", Options::DEFAULT.timeout(Millis(90_000))).is_ok() {
            calls += 1;
        }
        harness.at(700).events(&["expired"]);
        assert_eq!(harness.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        harness.server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#);
        harness.events(&[]);
        harness.peer_reads(true);
        harness.pump();
        let sent = harness.take_sent();
        assert!(calls > 0);
        let late = r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the request timed out"}}"#;
        assert_eq!(sent.iter().filter(|line| *line == late).count(), 1, "{sent:?}");
        harness.discard();
    });
}

#[test]
fn deferral_without_timeout_lasts_the_maximum() {
    setup().run(|harness| {
        harness.connect();
        defers(harness, None);
        harness.at(10).server_sends(ROOTS).events(&["asked roots"]);
        assert_eq!(harness.deadline, Some(5010));
        harness.at(5010).events(&["expired"]).discard();
    });
}

#[test]
fn request_that_cannot_be_deferred_is_returned() {
    // No slot, or an id longer than the text of a slot.
    for (slots, text, id) in [(0, 0, "1".to_owned()), (1, 8, r#""a long one""#.to_owned())] {
        Setup { slots, text, ..setup() }.run(|harness| {
            harness.connect();
            harness.on_server_request(|asked| {
                let asked = asked.defer(None).unwrap_err();
                asked.roots(|_| {});
                None
            });
            harness.server_sends(&format!(r#"{{"id":{id},"method":"roots/list"}}"#)).events(&["asked roots"]);
            harness.sent(&[&format!(r#"{{"id":{id},"result":{{"roots":[]}}}}"#)]);
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

#[test]
fn response_never_exceeds_its_reserved_space() {
    let long = |asked: ServerRequest<'_>| asked.error(-5, "x".repeat(500));
    Setup { max_reply_size: Some(300), ..setup() }.run(|harness| {
        harness.connect();
        harness.on_server_request(move |asked| {
            long(asked);
            None
        });
        harness.server_sends(ROOTS).events(&["asked roots", "fault ReplyTooLarge"]).sent(&[
            r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the response is too large"}}"#,
        ]);
    });
    // By default a response may use the whole buffer.
    setup().run(|harness| {
        harness.connect();
        harness.on_server_request(move |asked| {
            long(asked);
            None
        });
        harness.server_sends(ROOTS).events(&["asked roots"]);
        assert_eq!(harness.take_sent_lines()[0].len(), 557);
    });
}

#[test]
fn server_request_waits_for_reserved_output_space() {
    setup().run(|harness| {
        harness.connect();
        harness.on_server_request(|asked| {
            asked.roots(|_| {});
            None
        });
        harness.peer_reads(false);
        harness.call("add", Options::DEFAULT).unwrap();
        harness.server_sends(ROOTS).events(&[]);
        assert_eq!(harness.call("more", Options::DEFAULT), Err(SendError::Busy));
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["asked roots", "room"]);
        assert_eq!(harness.take_sent_lines().len(), 2);
        harness.call("more", Options::DEFAULT).unwrap();
        harness.discard();
    });
    // The space for the response is also reserved between `poll` and `event`.
    setup().run(|harness| {
        harness.connect();
        harness.on_server_request(|asked| {
            // A reply that fills the transmit buffer in message mode, and nearly fills it in line mode.
            asked.error(-5, "x".repeat(4096 - 71));
            None
        });
        harness.call("a", Options::DEFAULT).unwrap();
        let tickets = harness.tickets_of("a");
        if harness.pace().read < 1000 {
            harness.discard();
            return;
        }
        harness.discard().stop_after(0).server_sends(ROOTS);
        for _ in 0..3 {
            let _ = harness.client.poll(Millis(0));
        }
        assert_eq!(harness.call("more", Options::DEFAULT), Err(SendError::Busy));
        harness.client.cancel(tickets[0], "").unwrap();
        harness.pump();
        let events = harness.take_events();
        assert_eq!(events, ["asked roots", "room"]);
        let sent = harness.take_sent_lines();
        assert_eq!(sent.len(), 2, "the response and the cancellation");
        assert!(sent[0].len() > 4000, "{sent:?}");
    });
}

#[test]
fn busy_reply_succeeds_later() {
    setup().run(|harness| {
        harness.connect();
        let tickets = defers(harness, None);
        harness.server_sends(ROOTS).events(&["asked roots"]);
        let ticket = tickets.borrow()[0];
        harness.peer_reads(false);
        harness.call("add", Options::DEFAULT).unwrap();
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Busy));
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["room"]).discard();
        harness.client.reply(ticket).unwrap().roots(|_| {});
        harness.pump();
        harness.sent(&[r#"{"id":1,"result":{"roots":[]}}"#]);
    });
}

#[test]
fn progress_is_sent_if_the_server_asked_for_it() {
    let with_token = r#"{"id":1,"method":"roots/list","params":{"_meta":{"progressToken":"t"}}}"#;
    for (revision, message) in [(Revision::V2025_11_25, r#","message":"half""#), (Revision::V2024_11_05, "")]
    {
        setup().revision(revision).run(|harness| {
            harness.connect();
            let tickets = Rc::new(RefCell::new(Vec::new()));
            let kept = tickets.clone();
            harness.on_server_request(move |mut asked| {
                asked.progress(1u32, Some(Decimal::new(4, 0)), "half").unwrap();
                assert_eq!(asked.progress(1u32, None, ""), Err(SendError::NotWanted), "the progress has not increased");
                let ticket = asked.defer(None).unwrap();
                kept.borrow_mut().push(ticket);
                Some(ticket)
            });
            harness.server_sends(with_token).events(&["asked roots"]).sent(&[&format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":"t","progress":1,"total":4{message}}}}}"#
            )]);
            let ticket = tickets.borrow()[0];
            let mut reply = harness.client.reply(ticket).unwrap();
            assert_eq!(reply.progress(1u32, None, ""), Err(SendError::NotWanted));
            reply.progress(2u32, None, "").unwrap();
            reply.roots(|_| {});
            harness.pump();
            harness.sent(&[
                r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":2}}"#,
                r#"{"id":1,"result":{"roots":[]}}"#,
            ]);
        });
    }
    setup().run(|harness| {
        harness.connect();
        harness.on_server_request(|mut asked| {
            assert_eq!(asked.progress(1u32, None, ""), Err(SendError::NotWanted));
            asked.roots(|_| {});
            None
        });
        harness.server_sends(ROOTS).discard();
    });
}

#[test]
fn end_of_connection_cancels_deferred_requests() {
    setup().run(|harness| {
        harness.connect();
        let tickets = defers(harness, None);
        harness.server_sends(ROOTS).events(&["asked roots"]);
        harness.eof().events(&["cancelled", "closed"]);
        assert_eq!(harness.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
        harness.discard();
    });
}

#[test]
fn roots_change_is_sent_once_if_declared() {
    const CHANGED: &str = r#"{"method":"notifications/roots/list_changed"}"#;
    setup().run(|harness| {
        assert_eq!(harness.client.roots_changed(), Err(SendError::NotConnected));
        harness.connect();
        harness.client.roots_changed().unwrap();
        harness.client.roots_changed().unwrap();
        harness.pump();
        harness.sent(&[CHANGED]);
        harness.client.roots_changed().unwrap();
        harness.pump();
        harness.sent(&[CHANGED]);
    });
    for setup in [Setup::handshake().declares(C::ROOTS), Setup::automatic().declares(ALL)] {
        setup.run(|harness| {
            harness.connect();
            assert_eq!(harness.client.roots_changed(), Err(SendError::Unsupported));
        });
    }
}
