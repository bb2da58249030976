//! The server of notes as a process, with a client in both eras.
//!
//! The environment variable `NOTES_PROGRAM` names another server to test, such as the notes server on rmcp.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use mcp_proto_std::client::Connect;
use mcp_proto_std::{CallError, ClientHandle, Connector, Notification};

struct Database(PathBuf);

impl Database {
    fn new(name: &str) -> Database {
        let file = format!("mcp-proto-notes-{}-{name}.db", std::process::id());
        let database = Database(std::env::temp_dir().join(file));
        _ = std::fs::remove_file(&database.0);
        database
    }

    fn connect(&self, era: Connect) -> ClientHandle {
        let program = std::env::var("NOTES_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_notes").into());
        let mut command = Command::new(program);
        command.arg(&self.0);
        Connector::new("test", "1").connect(era).spawn(command).unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

fn call(client: &ClientHandle, tool: &str, arguments: &str) -> String {
    let result = client.call_json(tool, arguments).unwrap();
    assert!(!result.is_error(), "{tool} {arguments}: {:?}", result.text());
    result.text().unwrap()
}

fn read(client: &ClientHandle, uri: &str) -> Result<String, CallError> {
    client.read_resource(uri).map(|result| result.text().unwrap())
}

const ERAS: [(Connect, &str); 2] = [(Connect::Handshake, "handshake"), (Connect::Stateless, "stateless")];

#[test]
fn notes_are_added_found_read_and_deleted_in_both_eras() {
    for (era, name) in ERAS {
        let database = Database::new(name);
        let client = database.connect(era);
        assert_eq!(call(&client, "add", r#"{"title":"Shop","text":"Buy milk and bread"}"#), "note:///1");
        assert_eq!(call(&client, "add", r#"{"title":"Read","text":"A book about milk"}"#), "note:///2");
        let found = |words: &str| call(&client, "search", &format!(r#"{{"words":"{words}"}}"#));
        assert!(found("bread").contains("note:///1") && found("bread").contains(r#""title":"Shop""#));
        assert!(!found("bread").contains("note:///2"));
        assert!(found("milk").contains("note:///1") && found("milk").contains("note:///2"));
        assert_eq!(found("butter"), r#"{"notes":[]}"#);
        call(&client, "edit", r#"{"id":1,"text":"Buy butter"}"#);
        assert!(found("butter").contains("note:///1") && !found("milk").contains("note:///1"));
        assert_eq!(read(&client, "note:///1").unwrap(), "Buy butter");
        call(&client, "delete", r#"{"id":2}"#);
        assert!(matches!(read(&client, "note:///2"), Err(CallError::Server(_))));
        for (tool, arguments) in
            [("delete", r#"{"id":2}"#), ("edit", r#"{"id":2,"text":""}"#), ("search", r#"{"words":"\""}"#)]
        {
            let failed = client.call_json(tool, arguments).map_or(true, |result| result.is_error());
            assert!(failed, "{tool} {arguments}");
        }
        client.close();
        // The notes are still there in the next session.
        let client = database.connect(era);
        assert_eq!(read(&client, "note:///1").unwrap(), "Buy butter");
        client.close();
    }
}

#[test]
fn list_has_all_notes_on_several_pages() {
    for (era, name) in ERAS {
        let database = Database::new(&format!("pages-{name}"));
        let client = database.connect(era);
        for number in 1..=120 {
            call(&client, "add", &format!(r#"{{"title":"Note {number}","text":"text {number}"}}"#));
        }
        call(&client, "delete", r#"{"id":50}"#);
        let notes = client.list_resources().unwrap();
        let uris: Vec<_> = notes.iter().map(|note| note.uri()).collect();
        let expected = (1..=120).filter(|id| *id != 50).map(|id| format!("note:///{id}"));
        assert_eq!(uris, expected.collect::<Vec<_>>());
        assert_eq!(notes[0].view().name().unwrap(), "Note 1");
        assert_eq!(client.list_templates().unwrap()[0].uri_template(), "note:///{id}");
        client.close();
    }
}

#[test]
fn subscriber_is_notified_of_an_edit() {
    let database = Database::new("subscription");
    let client = database.connect(Connect::Handshake);
    let mut notifications = client.notifications();
    call(&client, "add", r#"{"title":"Shop","text":"Buy milk"}"#);
    call(&client, "add", r#"{"title":"Other","text":"Not subscribed"}"#);
    client.subscribe("note:///1").unwrap();
    call(&client, "edit", r#"{"id":2,"text":"Still not subscribed"}"#);
    call(&client, "edit", r#"{"id":1,"text":"Buy butter"}"#);
    let mut next = || notifications.next_within(Duration::from_secs(20)).expect("a notification");
    let updated = loop {
        if let Notification::Updated(uri) = next() {
            break uri;
        }
    };
    assert_eq!(updated, "note:///1");
    client.close();
}
