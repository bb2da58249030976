//! Authorization: challenges, bearer tokens, and the metadata of the protected resource.

use super::support::{Fields, Harness, Request, Sizes, head_of, initialize};
use mcp_proto_http::server::{Challenge, HttpConfig, RESOURCE_METADATA_PATH, SessionMode};

/// Z-S1, Z-S3, Z-S4, D-S9: every request is authorized anew, and the refusal has the challenge.
#[test]
fn unauthorized_request_gets_the_challenge() {
    let mut harness = Harness::new(HttpConfig::new().sessions(SessionMode::Sessions));
    harness.http.policy().needs_token = true;
    for (token, status) in [("", 401), ("Bearer narrow", 403), ("Bearer good", 200)] {
        let reply = harness.ask(&Request::call(1, "echo").with("authorization", token));
        assert_eq!(reply.status, status);
        assert_eq!(reply.field("www-authenticate").starts_with("Bearer "), status != 200);
    }
}

#[test]
fn challenge_is_a_constant_or_a_string() {
    let url = String::from("https://x/a");
    let owned = Challenge::from(format!("Bearer resource_metadata=\"{url}\""));
    assert_eq!(owned.as_str(), "Bearer resource_metadata=\"https://x/a\"");
    assert_eq!(Challenge::from("Bearer"), Challenge::new("Bearer"));
    assert_eq!(Challenge::from(String::new()), Challenge::NONE);
}

/// Z-S5, Z-S6: only whole tokens in the field `Authorization` count.
#[test]
fn only_a_whole_bearer_token_is_accepted() {
    const TOKENS: [&str; 3] = ["first", "second-token", ""];
    let rows = [
        ("Bearer first", Some(1)),
        ("Bearer second-token", Some(2)),
        ("bearer first", Some(1)),
        ("BEARER   first  ", Some(1)),
        ("", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("first", None),
        ("Basic first", None),
        ("Bearer firs", None),
        ("Bearer first1", None),
        ("Bearer First", None),
        ("Bearer first second-token", None),
        ("Bearer  \u{e9}", None),
    ];
    for (field, user) in rows {
        let mut harness = Harness::new(HttpConfig::new());
        harness.http.policy().tokens = &TOKENS;
        let request = Request::call(1, "echo").with("authorization", field);
        assert_eq!(harness.ask(&request).status, if user.is_some() { 200 } else { 401 }, "{field}");
        let fields = Fields(&request.fields);
        assert_eq!(head_of(&request, &fields).bearer_user(TOKENS), user, "{field}");
    }
    // The server ignores a token in the target, and refuses a request with two fields `Authorization`.
    let mut harness = Harness::new(HttpConfig::new());
    harness.http.policy().tokens = &["first"];
    let request = Request { target: "/mcp?access_token=first".into(), ..Request::call(1, "echo") };
    assert_eq!(harness.ask(&request).status, 401);
    let mut twice = Request::call(1, "echo").with("authorization", "Bearer first");
    twice.fields.push(("Authorization".into(), "Bearer first".into()));
    assert_eq!(harness.ask(&twice).status, 401);
}

/// D-S9, D-S11: the token names the user of a session.
#[test]
fn session_needs_the_token_that_created_it() {
    let mut harness = Harness::new(HttpConfig::new().sessions(SessionMode::Sessions));
    harness.http.policy().tokens = &["first", "second"];
    let request = Request::post(initialize("2025-06-18"));
    let reply = harness.ask(&request.with("authorization", "Bearer first"));
    let ping = Request::old(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, reply.field("mcp-session-id"));
    for (token, status) in [("Bearer first", 200), ("Bearer second", 404), ("", 401)] {
        assert_eq!(harness.ask(&ping.clone().with("authorization", token)).status, status, "{token}");
    }
}

#[test]
fn stream_has_the_user_of_its_request() {
    let mut harness = Harness::new(HttpConfig::new());
    harness.http.policy().tokens = &["first", "second"];
    for token in ["first", "second"] {
        let call = Request::call(1, "defer").with("authorization", &format!("Bearer {token}"));
        assert!(harness.send(&call).is_ok());
    }
    let streams: Vec<_> = harness.tickets.iter().map(|it| harness.server.stream_of(*it).unwrap()).collect();
    let users = |harness: &Harness| streams.iter().map(|it| harness.http.user(*it)).collect::<Vec<_>>();
    assert_eq!(users(&harness), [Some(1), Some(2)]);
    harness.server.reply(harness.tickets[0]).unwrap().text("done");
    harness.run();
    assert_eq!(users(&harness), [None, Some(2)], "the first exchange has ended");
    // Without authorization, a request has no user.
    let mut harness = Harness::new(HttpConfig::new());
    assert!(harness.send(&Request::call(1, "defer")).is_ok());
    let stream = harness.server.stream_of(harness.tickets[0]).unwrap();
    assert_eq!(harness.http.user(stream), None);
}

/// Z-S2, Z-S3: the document is served without a token, at both well-known paths, to the permitted hosts.
#[test]
fn resource_metadata_needs_no_token() {
    const DOCUMENT: &str = r#"{"resource":"https://x/mcp","authorization_servers":["https://a"]}"#;
    let get = |target: &str| Request { target: target.into(), ..Request::new("GET") };
    let well_known = RESOURCE_METADATA_PATH;
    let rows = [
        (get(well_known), 200),
        (get(&format!("{well_known}/mcp")), 200),
        (get(&format!("{well_known}?x")), 200),
        (get(&format!("{well_known}/other")), 404),
        (get(&format!("{well_known}x")), 404),
        (Request { method: "POST", ..get(well_known) }, 405),
        (get(well_known).with("host", "evil.example"), 403),
        (get(well_known).with("origin", "http://evil.example"), 403),
        (get("/mcp"), 405),
    ];
    for (request, status) in rows {
        let mut harness = Harness::new(HttpConfig::new().path("/mcp"));
        (harness.http.policy().needs_token, harness.http.policy().metadata) = (true, Some(DOCUMENT));
        let reply = harness.ask(&request);
        assert_eq!(reply.status, status, "{request:?}");
        assert_eq!(reply.body == DOCUMENT, status == 200, "{request:?}");
        assert_eq!(reply.field("content-type"), "application/json");
        assert_eq!(harness.http.open_exchanges(), 0);
        // A server without a metadata document does not serve these paths.
        let without = Harness::new(HttpConfig::new().path("/mcp")).ask(&request);
        assert_ne!(without.status, 200, "{request:?}");
    }
    // The document needs more space for output than this server has.
    let sizes = Sizes { output: 64, ..Sizes::default() };
    let mut harness = Harness::with_sizes(HttpConfig::new(), sizes);
    harness.http.policy().metadata = Some(DOCUMENT);
    let reply = harness.ask(&get(well_known));
    assert_eq!((reply.status, reply.field("retry-after"), harness.http.open_exchanges()), (503, "1", 0));
}
