//! The public items of both adapters, compared with `docs/parity.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The types whose methods are compared.
const TYPES: [&str; 10] = [
    "ChunkWriter",
    "ClientHandle",
    "Connector",
    "Notifications",
    "PendingRequest",
    "Pump",
    "Responder",
    "Serve",
    "ServerHandle",
    "Subscription",
];

/// Returns the files in a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the name at the start of a text.
fn name(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Returns the type that an `impl` line names. Returns `None` for other lines, and for the implementation of a trait.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    // Skip the generic parameters, which may be nested.
    let mut depth = 0;
    let start = rest.find(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c.is_alphanumeric()
    })?;
    (!rest.contains(" for ")).then(|| name(&rest[start..]))
}

/// Returns the public methods of the compared types in these folders, without hidden methods.
fn methods(folders: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in folders.iter().flat_map(|folder| files(&root().join(folder))) {
        let (text, mut owner, mut is_hidden) = (fs::read_to_string(file).unwrap(), None, false);
        for line in text.lines() {
            if line.starts_with("impl") {
                owner = implemented(line);
            }
            if line == "    #[doc(hidden)]" {
                is_hidden = true;
            }
            let Some(rest) = line.strip_prefix("    pub ") else { continue };
            let function = rest.trim_start_matches("const ").trim_start_matches("async ").strip_prefix("fn ");
            if let (Some(owner), Some(function)) = (owner.filter(|owner| TYPES.contains(owner)), function)
                && !is_hidden
            {
                found.insert(format!("{owner}::{}", name(function)));
            }
            is_hidden = false;
        }
    }
    found
}

/// Returns the names in the `pub use` statements of a crate, including the modules in their paths, without the names of
/// the core.
fn exports(adapter: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(adapter).join("lib.rs")).unwrap();
    let statements = text.split("\npub use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let names = statements.flat_map(|(names, _)| names.split(['{', '}', ',', ':']).map(str::trim));
    names.filter(|name| !name.is_empty() && !name.contains('*')).map(String::from).collect()
}

/// Adds to the differences each item that only one of the sets contains.
fn compare(threads: &BTreeSet<String>, tokio: &BTreeSet<String>, differences: &mut BTreeSet<String>) {
    differences.extend(threads.difference(tokio).map(|item| format!("`{item}` | threads")));
    differences.extend(tokio.difference(threads).map(|item| format!("`{item}` | tokio")));
}

#[test]
fn public_items_of_both_adapters_are_the_same() {
    let mut found = BTreeSet::new();
    let shared = ["adapters/tokio/src", "adapters/handles/src"];
    let (threads, tokio) = (methods(&["adapters/std/src"]), methods(&shared));
    assert!(threads.len() > 100 && tokio.len() > 100, "{} and {} methods", threads.len(), tokio.len());
    compare(&threads, &tokio, &mut found);
    // On threads, `next` is a method of `Iterator`. `methods` skips the implementations of traits.
    found.retain(|item| !item.contains("::next` | tokio"));
    // Skips lowercase names, such as those of modules and functions, except the function `stop_on_ctrl_c`.
    let own = |exports: BTreeSet<String>| -> BTreeSet<String> {
        exports
            .into_iter()
            .filter(|name| name.starts_with(char::is_uppercase) || name.starts_with("stop"))
            .collect()
    };
    compare(&own(exports("adapters/std/src")), &own(exports("adapters/tokio/src")), &mut found);

    let document = fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let (_, table) = document.split_once("<!-- differences -->\n").unwrap();
    let (table, _) = table.split_once("<!-- end -->").unwrap();
    let rows = table.lines().skip(2).map(|row| {
        let (item, reason) = row.trim_matches(['|', ' ']).rsplit_once(" | ").unwrap();
        assert!(!reason.is_empty(), "{item} has no reason");
        item.to_owned()
    });
    assert_eq!(rows.collect::<BTreeSet<_>>(), found);
}
