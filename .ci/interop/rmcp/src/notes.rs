//! The example `notes`, written with rmcp: a server of notes in a SQLite database.
//!
//!     rmcp_notes DATABASE
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router, transport,
};
use rusqlite::{Connection, OptionalExtension, Params};
use std::collections::HashSet;
use std::sync::Mutex;
use tokio::sync::broadcast::{self, error::RecvError};

const PAGE: u32 = 50;

struct Notes {
    database: Mutex<Connection>,
    /// The URIs that the client has subscribed to, if it is a client of the handshake era.
    subscribed: Mutex<HashSet<String>>,
    /// The channel through which the subscriptions of the stateless era receive changes.
    changes: broadcast::Sender<Change>,
}

#[derive(Clone)]
enum Change {
    List,
    Note(String),
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct NewNote {
    #[schemars(length(min = 1, max = 200))]
    title: String,
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct NewText {
    id: i64,
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Id {
    id: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    /// An expression of FTS5, such as `milk OR bread`
    words: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Found {
    notes: Vec<Note>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Note {
    uri: String,
    title: String,
}

fn uri(id: i64) -> String {
    format!("note:///{id}")
}

fn internal(error: rusqlite::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl Notes {
    /// Runs a statement that returns ids and titles.
    fn query(&self, sql: &str, params: impl Params) -> rusqlite::Result<Vec<(i64, String)>> {
        let database = self.database.lock().unwrap();
        database.prepare_cached(sql)?.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// Runs a statement that changes or deletes one note. Fails if the note does not exist.
    fn change(&self, sql: &str, params: impl Params) -> Result<String, String> {
        match self.database.lock().unwrap().execute(sql, params) {
            Ok(0) => Err("there is no such note".into()),
            Ok(_) => Ok("done".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Notifies the client of a change, in the form of the client's era. In both eras, a changed note needs a
    /// subscription. A changed list needs one only in the stateless era.
    async fn changed(&self, change: Change, context: &RequestContext<RoleServer>) {
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            _ = self.changes.send(change);
            return;
        }
        // Ignore failures: a client that has disconnected needs no notification.
        match change {
            Change::List => _ = context.peer.notify_resource_list_changed().await,
            Change::Note(uri) if self.subscribed.lock().unwrap().contains(&uri) => {
                _ = context.peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
            Change::Note(_) => {}
        }
    }
}

#[tool_router]
impl Notes {
    /// Adds a note. The result is its URI.
    #[tool]
    async fn add(
        &self,
        Parameters(NewNote { title, text }): Parameters<NewNote>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        if !(1..=200).contains(&title.chars().count()) {
            return Err("title has 1 to 200 characters".into());
        }
        let sql = "INSERT INTO notes(title, text) VALUES (?1, ?2) RETURNING id, title";
        let added = self.query(sql, (title, text)).map_err(|error| error.to_string())?;
        self.changed(Change::List, &context).await;
        Ok(uri(added[0].0))
    }

    /// Replaces the text of a note.
    #[tool(annotations(idempotent_hint = true))]
    async fn edit(
        &self,
        Parameters(NewText { id, text }): Parameters<NewText>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let edited = self.change("UPDATE notes SET text = ?2 WHERE id = ?1", (id, text))?;
        self.changed(Change::Note(uri(id)), &context).await;
        Ok(edited)
    }

    /// Deletes a note.
    #[tool(annotations(destructive_hint = true))]
    async fn delete(
        &self,
        Parameters(Id { id }): Parameters<Id>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let deleted = self.change("DELETE FROM notes WHERE id = ?1", [id])?;
        self.changed(Change::List, &context).await;
        Ok(deleted)
    }

    /// Finds notes by their words, the best first.
    #[tool(annotations(read_only_hint = true))]
    async fn search(&self, Parameters(Query { words }): Parameters<Query>) -> Result<Json<Found>, String> {
        let sql = "SELECT rowid, title FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 20";
        let notes = self.query(sql, [words]).map_err(|error| error.to_string())?;
        let notes = notes.into_iter().map(|(id, title)| Note { uri: uri(id), title });
        Ok(Json(Found { notes: notes.collect() }))
    }
}

#[tool_handler]
#[allow(deprecated)] // rmcp deprecates `subscribe` and `unsubscribe`, which 2026-07-28 has replaced.
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("notes", "1.0.0"))
    }

    /// Lists the notes in pages. The cursor of a page is the id of the last note on the page before.
    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let after: i64 = match request.and_then(|request| request.cursor) {
            Some(cursor) => cursor.parse().map_err(|_| ErrorData::invalid_params("unknown cursor", None))?,
            None => 0,
        };
        let sql = "SELECT id, title FROM notes WHERE id > ?1 ORDER BY id LIMIT ?2";
        let notes = self.query(sql, (after, PAGE)).map_err(internal)?;
        let next = notes.get(PAGE as usize - 1).map(|(id, _)| id.to_string());
        let resource = |(id, title)| Resource::new(uri(id), title).with_mime_type("text/markdown");
        let mut page = ListResourcesResult::with_all_items(notes.into_iter().map(resource).collect());
        page.next_cursor = next;
        Ok(page)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("note:///{id}", "note").with_mime_type("text/markdown");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let not_found = || ErrorData::resource_not_found("there is no such note", None);
        let id = request.uri.strip_prefix("note:///").and_then(|id| id.parse::<i64>().ok());
        let id = id.ok_or_else(not_found)?;
        let database = self.database.lock().unwrap();
        let text = database.query_row("SELECT text FROM notes WHERE id = ?1", [id], |row| row.get(0));
        let text: String = text.optional().map_err(internal)?.ok_or_else(not_found)?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type("text/markdown");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().unwrap().insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().unwrap().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        let (accepted, sink) = (context.accepted(), context.sink());
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            let sent = match change {
                Ok(Change::List) if accepted.resources_list_changed == Some(true) => {
                    sink.notify_resource_list_changed().await
                }
                Ok(Change::Note(uri))
                    if accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(&uri)) =>
                {
                    sink.notify_resource_updated(uri).await
                }
                Err(RecvError::Closed) => return Ok(()),
                _ => Ok(()),
            };
            sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let database = Connection::open(std::env::args_os().nth(1).ok_or("usage: rmcp_notes DATABASE")?)?;
    database.execute_batch(include_str!("../../../../examples/notes/src/schema.sql"))?;
    let notes = Notes {
        database: Mutex::new(database),
        subscribed: Mutex::default(),
        changes: broadcast::channel(64).0,
    };
    notes.serve(transport::stdio()).await?.waiting().await?;
    Ok(())
}
