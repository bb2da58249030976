//! The resources: a fixed set, and notes that clients add and remove.

use std::collections::BTreeMap;

use mcp_proto::server::{Call, Change, ListResources, ReadResource, Resource};

use crate::World;
use crate::catalog::FIXED;
use crate::content::PNG;
use crate::tools::{RemoveNote, WriteNote};

/// The text of each note, by its URI.
pub(crate) type Notes = BTreeMap<String, String>;

pub(crate) fn uri_of(name: &str) -> String {
    format!("note://{name}")
}

/// Responds with one page of the list. The server requests entries by index until the page is full or the
/// list ends.
pub(crate) fn list(list: ListResources<'_>, world: &World) {
    list.resources(|index| match FIXED.get(index) {
        Some(fixed) => Some(*fixed),
        None => {
            let (uri, text) = world.notes.iter().nth(index - FIXED.len())?;
            let note = Resource::new(uri, &uri["note://".len()..]).mime_type("text/plain");
            Some(note.size(text.len() as u64))
        }
    });
}

pub(crate) fn read(read: ReadResource<'_>, world: &World) {
    let id = read.variable("id").map(|id| id.to_string());
    match (read.uri(), id, world.notes.get(read.uri())) {
        (_, _, Some(note)) => read.text(note),
        ("clock://ticks", ..) => read.text(world.ticks),
        ("test://static-text", ..) => read.text("This is the content of the static text resource."),
        ("test://watched-resource", ..) => read.text("Clients may subscribe to this resource."),
        (uri @ "test://static-binary", ..) => {
            read.contents(|contents| contents.blob(uri, Some("image/png"), PNG));
        }
        // The template sets the media type.
        (_, Some(id), _) => read.text(
            serde_json::json!({
                "id": id,
                "templateTest": true,
                "data": format!("Data for ID: {id}"),
            })
            .to_string(),
        ),
        _ => read.not_found(),
    }
}

/// Writes a note and notifies its subscribers. A new note also changes the list.
pub(crate) fn write_note(mut call: Call<'_>, WriteNote { name, text }: WriteNote<'_>, notes: &mut Notes) {
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return call.invalid("`name`: only letters, digits and `-`");
    }
    let uri = uri_of(name);
    call.changed(Change::Resource(&uri));
    if notes.insert(uri.clone(), text).is_none() {
        call.changed(Change::Resources);
    }
    call.content(|result| result.link(&Resource::new(&uri, name).mime_type("text/plain")));
}

pub(crate) fn remove_note(mut call: Call<'_>, RemoveNote { name }: RemoveNote<'_>, notes: &mut Notes) {
    let uri = uri_of(name);
    if notes.remove(&uri).is_none() {
        return call.fail(format_args!("there is no note {name}"));
    }
    call.changed(Change::Resource(&uri));
    call.changed(Change::Resources);
    call.text("removed");
}
