//! Checks `docs/task-rules.md`. The table for servers has every requirement once. The tests that the tables name exist
//! and cite their requirements.

use std::collections::BTreeMap;

use crate::documents::text;

/// Returns the documentation and the body of a test, or `None` if the test does not exist.
fn body(folder: &str, file: &str, name: &str) -> Option<String> {
    let code = text(&format!("{folder}/{file}.rs"));
    let (before, rest) = code.split_once(&format!("#[test]\nfn {name}() {{\n"))?;
    let documentation = before.rsplit("\n\n").next().unwrap();
    Some(format!("{documentation} {}", rest.split("\n}\n").next().unwrap()))
}

/// Checks that the tests in the tables of `document` exist in `folder` and cite their requirements. Counts the rows of
/// each requirement.
fn check(document: &str, folder: &str, numbers: &mut BTreeMap<(String, u32), usize>) {
    for row in document.lines().filter(|line| line.starts_with("| T")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let cited: Vec<_> = cells[1].split(", ").collect();
        for number in &cited {
            let (kind, at) = number.split_once('-').unwrap();
            *numbers.entry((kind.to_owned(), at.parse().unwrap())).or_default() += 1;
        }
        let words = cells[3].split('`').skip(1).step_by(2);
        for test in words.filter(|word| word.starts_with(char::is_lowercase) && word.contains("::")) {
            let (file, name) = test.split_once("::").unwrap();
            let body = body(folder, file, name).unwrap_or_else(|| panic!("{test} does not exist"));
            for number in &cited {
                let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '-');
                assert!(words.any(|word| word == *number), "{test} does not cite {number}");
            }
        }
    }
}

#[test]
fn every_requirement_has_tests_that_cite_it() {
    let document = text("docs/task-rules.md");
    let (server, client) = document.split_once("\n## Clients\n").unwrap();
    let mut numbers = BTreeMap::new();
    check(server, "tests/server/tasks", &mut numbers);
    let all = (1..=34).map(|at| ("TC".to_owned(), at)).chain((1..=26).map(|at| ("TX".to_owned(), at)));
    assert_eq!(numbers, all.map(|number| (number, 1)).collect());
    check(client, "tests/client", &mut numbers);
}
