//! Checks `docs/task-rules.md`: every requirement once, with tests that cite it.

use std::collections::BTreeMap;

use crate::documents::text;

/// The body of a test, `None` if there is no such test.
fn body(file: &str, name: &str) -> Option<String> {
    let code = text(&format!("tests/server/tasks/{file}.rs"));
    let (_, rest) = code.split_once(&format!("#[test]\nfn {name}() {{\n"))?;
    Some(rest.split("\n}\n").next().unwrap().to_owned())
}

#[test]
fn every_requirement_has_tests_that_cite_it() {
    let document = text("docs/task-rules.md");
    let (document, _) = document.split_once("\n## Clients\n").unwrap();
    let mut numbers: BTreeMap<(String, u32), usize> = BTreeMap::new();
    for row in document.lines().filter(|line| line.starts_with("| T")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let cited: Vec<_> = cells[1].split(", ").collect();
        for number in &cited {
            let (kind, at) = number.split_once('-').unwrap();
            *numbers.entry((kind.to_owned(), at.parse().unwrap())).or_default() += 1;
        }
        for test in cells[3].split('`').skip(1).step_by(2).filter(|word| word.contains("::")) {
            let (file, name) = test.split_once("::").unwrap();
            let body = body(file, name).unwrap_or_else(|| panic!("{test} does not exist"));
            for number in &cited {
                let is_cited =
                    body.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == *number);
                assert!(is_cited, "{test} does not cite {number}");
            }
        }
    }
    let all = (1..=34).map(|at| ("TC".to_owned(), at)).chain((1..=26).map(|at| ("TX".to_owned(), at)));
    assert_eq!(numbers, all.map(|number| (number, 1)).collect());
}
