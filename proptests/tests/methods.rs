//! The method table against the official schemas: names, revisions and directions.

use std::collections::BTreeSet;

use mcp_proto::methods::{self, Method};
use mcp_proto::{Revision, Revisions};
use mcp_proto_proptests::schema::spec_dir;
use serde_json::Value;

/// Reads a schema. If the schema is missing, prints its path and returns `None`; with `CI=true`, panics.
fn schema(name: &str) -> Option<Value> {
    let path = spec_dir().join(format!("schema/{name}.json"));
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        let reason = format!("NOT RUN: no {} (set MCP_SPEC_DIR)", path.display());
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
        eprintln!("{reason}");
    }
    Some(serde_json::from_str(&text?).expect("a schema is JSON"))
}

fn definitions(schema: &Value) -> &Value {
    schema.get("definitions").or(schema.get("$defs")).expect("a schema has definitions")
}

/// Adds the methods of a definition and of its alternatives to `found`.
fn collect<'s>(schema: &'s Value, definition: &'s Value, found: &mut BTreeSet<&'s str>) {
    if let Some(name) = definition.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap();
        return collect(schema, &definitions(schema)[name], found);
    }
    for part in ["anyOf", "allOf"].iter().filter_map(|key| definition.get(key)?.as_array()).flatten() {
        collect(schema, part, found);
    }
    found.extend(definition["properties"]["method"]["const"].as_str());
}

/// Returns the methods of the named definition, or no methods if the definition does not exist.
fn of<'s>(schema: &'s Value, name: &str) -> BTreeSet<&'s str> {
    let mut found = BTreeSet::new();
    if let Some(definition) = definitions(schema).get(name) {
        collect(schema, definition, &mut found);
    }
    found
}

fn ours(requests: bool, revision: Revision, sent: impl Fn(&Method) -> Revisions) -> BTreeSet<&'static str> {
    let fits = |method: &&Method| method.is_request() == requests && sent(method).contains(revision);
    methods::ALL.iter().filter(fits).map(Method::name).collect()
}

#[test]
fn method_table_has_the_revisions_and_directions_of_the_schemas() {
    let mut seen = 0;
    for revision in Revision::ALL {
        let Some(schema) = schema(revision.as_str()) else { return };
        let sides = [
            ("ClientRequest", ours(true, revision, Method::by_client)),
            ("ServerRequest", ours(true, revision, Method::by_server)),
            ("ClientNotification", ours(false, revision, Method::by_client)),
            ("ServerNotification", ours(false, revision, Method::by_server)),
            ("InputRequest", ours(true, revision, Method::in_results)),
        ];
        for (definition, ours) in sides {
            let theirs = of(&schema, definition);
            seen += theirs.len();
            assert_eq!(ours, theirs, "{definition} of {revision}");
        }
        // The schema has no methods besides those of the table.
        let all: BTreeSet<&str> =
            definitions(&schema).as_object().unwrap().keys().flat_map(|name| of(&schema, name)).collect();
        for method in all {
            assert!(methods::ALL.iter().any(|ours| ours.name() == method), "{method} of {revision}");
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn tasks_extension_has_the_methods_of_its_schema() {
    let Some(schema) = schema("ext-tasks") else { return };
    let names = definitions(&schema).as_object().unwrap().keys();
    let theirs: BTreeSet<&str> = names.flat_map(|name| of(&schema, name)).collect();
    let stateless = Revision::V2026_07_28;
    let in_core = ours(true, stateless, Method::in_results);
    let ours: BTreeSet<&str> = [true, false]
        .into_iter()
        .flat_map(|requests| ours(requests, stateless, Method::by_extension))
        .filter(|name| name.contains("tasks"))
        .chain(in_core)
        .collect();
    assert_eq!(ours, theirs);
}
