//! A notes server with a SQLite database: tools, full-text search, resources, and resource subscriptions.
//!
//!     notes DATABASE
use mcp_proto_std::server::{
    Call, Change, Event, Failure, ListResources, Resource, ResourceTemplate, Resources, ServerConfig,
    Structured, Subscriptions,
};
use mcp_proto_std::{Router, Schema, ToolArguments, resource, route, router, serve, tool};
use rusqlite::{Connection, OptionalExtension, Params};
use std::sync::{Arc, Mutex};

const PAGE: u32 = 50;

struct Notes(Mutex<Connection>);

#[derive(ToolArguments)]
struct NewNote {
    #[tool(min_length = 1, max_length = 200)]
    title: String,
    text: String,
}

#[derive(ToolArguments)]
struct NewText {
    id: i64,
    text: String,
}

#[derive(ToolArguments)]
struct Id {
    id: i64,
}

#[derive(ToolArguments)]
struct Query {
    /// An expression of FTS5, such as `milk OR bread`
    words: String,
}

#[derive(Schema, serde::Serialize)]
struct Found {
    notes: Vec<Note>,
}

#[derive(Schema, serde::Serialize)]
struct Note {
    uri: String,
    title: String,
}

fn uri(id: i64) -> String {
    format!("note:///{id}")
}

impl Notes {
    /// Runs a statement that returns ids and titles.
    fn query(&self, sql: &str, params: impl Params) -> rusqlite::Result<Vec<(i64, String)>> {
        let database = self.0.lock().unwrap();
        database.prepare_cached(sql)?.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// Runs a statement that changes one note. Fails if the note does not exist.
    fn change(&self, sql: &str, params: impl Params) -> Result<&'static str, Failure> {
        match self.0.lock().unwrap().execute(sql, params)? {
            0 => Err("there is no such note".into()),
            _ => Ok("done"),
        }
    }

    /// Adds a note. The result is its URI.
    #[tool]
    fn add(&self, NewNote { title, text }: NewNote, mut call: Call<'_>) {
        let sql = "INSERT INTO notes(title, text) VALUES (?1, ?2) RETURNING id, title";
        let added = self.query(sql, (title, text));
        if added.is_ok() {
            call.changed(Change::Resources);
        }
        call.respond(added.map(|notes| uri(notes[0].0)).map_err(Failure::from));
    }

    /// Replaces the text of a note.
    #[tool(idempotent)]
    fn edit(&self, NewText { id, text }: NewText, mut call: Call<'_>) {
        let edited = self.change("UPDATE notes SET text = ?2 WHERE id = ?1", (id, text));
        if edited.is_ok() {
            call.changed(Change::Resource(&uri(id)));
        }
        call.respond(edited);
    }

    /// Deletes a note.
    #[tool(destructive)]
    fn delete(&self, Id { id }: Id, mut call: Call<'_>) {
        let deleted = self.change("DELETE FROM notes WHERE id = ?1", [id]);
        if deleted.is_ok() {
            call.changed(Change::Resources);
        }
        call.respond(deleted);
    }

    /// Finds notes by their words, the best first.
    #[tool(read_only)]
    fn search(&self, Query { words }: Query) -> Result<Structured<Found>, Failure> {
        let sql = "SELECT rowid, title FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 20";
        let notes = self.query(sql, [words])?.into_iter().map(|(id, title)| Note { uri: uri(id), title });
        Ok(Structured(Found { notes: notes.collect() }))
    }

    #[resource("note:///{id}", mime = "text/markdown")]
    fn note(&self, id: i64) -> Result<Option<String>, Failure> {
        let database = self.0.lock().unwrap();
        Ok(database.query_row("SELECT text FROM notes WHERE id = ?1", [id], |row| row.get(0)).optional()?)
    }

    /// Lists the notes in pages. The position of a page is the id of the note before it.
    fn list(&self, request: ListResources<'_>) {
        let sql = "SELECT id, title FROM notes WHERE id > ?1 ORDER BY id LIMIT ?2";
        let notes = match self.query(sql, (request.position(), PAGE)) {
            Ok(notes) => notes,
            Err(error) => return request.error(-32603, &*error.to_string()),
        };
        let next = notes.get(PAGE as usize - 1).and_then(|(id, _)| u32::try_from(*id).ok());
        let notes: Vec<_> = notes.into_iter().map(|(id, title)| (uri(id), title)).collect();
        let notes = notes.iter().map(|(uri, title)| Resource::new(uri, title).mime_type("text/markdown"));
        request.resources_page(notes, next);
    }
}

static ROUTER: Router<Notes> = router![Notes::add, Notes::edit, Notes::delete, Notes::search, Notes::note];
static NOTES: Resources = Resources::dynamic_list()
    .templates(&[ResourceTemplate::new("note:///{id}", "note").mime_type("text/markdown")])
    .list_changed()
    .subscribe();
static CONFIG: ServerConfig =
    ServerConfig::new("notes", "1.0.0").features(&[ROUTER.tools(), &NOTES, &Subscriptions]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let database = Connection::open(std::env::args_os().nth(1).ok_or("usage: notes DATABASE")?)?;
    database.execute_batch(include_str!("schema.sql"))?;
    let notes = Arc::new(Notes(Mutex::new(database)));
    let handle = route(&ROUTER, Arc::clone(&notes));
    Ok(serve(&CONFIG, |event, server| match event {
        Event::ListResources(request) => notes.list(request),
        event => handle(event, server),
    })?)
}
