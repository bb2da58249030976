//! Checks that transcripts cite every observable rule, and only existing rules.

use std::collections::BTreeSet;
use std::fs::read_to_string;

use mcp_proto_transcripts::all;

/// Rules that no transcript on a byte stream can show, each with its topic. Those with a `T` are missing in the table
/// of traps in `docs/compatibility.md`.
const NOT_SHOWN: [(&str, &str); 5] = [
    ("2.4.4", "HTTP: headers"),
    ("T39", "HTTP: order of checks"),
    ("T58", "tasks: error code without the capability"),
    ("T60", "HTTP: origin of a request"),
    ("T61", "HTTP: event streams"),
];

fn text(path: &str) -> String {
    read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the rows of `docs/rules.md` and of the tables in `docs/compatibility.md`.
fn rows() -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    let mut section = String::new();
    for line in text(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md")).lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.split(' ').next().unwrap().to_owned();
        } else if let Some((number, _)) = line.split_once(". ")
            && let Ok(number) = number.parse::<u32>()
        {
            rows.insert(format!("{section}.{number}"));
        }
    }
    let tables = text(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md"));
    for line in tables.lines() {
        let first = line.trim_start_matches("| ").split(' ').next().unwrap();
        if line.starts_with("| D") && first.len() > 1 {
            rows.insert(first.to_owned());
        } else if line.starts_with("| ") && first.parse::<u32>().is_ok() {
            rows.insert(format!("T{first}"));
        }
    }
    for (row, _) in NOT_SHOWN {
        assert!(rows.insert(row.to_owned()) || row.starts_with('2'), "{row} is in the table");
    }
    let count = |letter| rows.iter().filter(|row| row.starts_with(letter)).count();
    assert_eq!([count('2'), count('D'), count('T')], [117, 38, 61]);
    rows
}

#[test]
fn each_rule_is_shown_by_a_transcript() {
    let (rows, transcripts) = (rows(), all());
    let mut left = rows.clone();
    for transcript in &transcripts {
        assert!(!transcript.cited.is_empty(), "{} shows nothing", transcript.name());
        for row in &transcript.cited {
            assert!(rows.contains(row), "{} cites {row}, which does not exist", transcript.name());
            left.remove(row);
        }
    }
    for (row, why) in NOT_SHOWN {
        assert!(left.remove(row), "{row} is cited, but listed in NOT_SHOWN: {why}");
    }
    assert!(left.is_empty(), "no transcript cites {left:?}");
}

#[test]
fn transcripts_are_many_with_distinct_titles() {
    let transcripts = all();
    let servers = transcripts.iter().filter(|transcript| transcript.is_server()).count();
    assert!(servers > 80 && transcripts.len() - servers > 80, "{servers} of {}", transcripts.len());
    let titles: BTreeSet<_> = transcripts.iter().map(|it| (it.is_server(), it.title.clone())).collect();
    assert_eq!(titles.len(), transcripts.len());
}
