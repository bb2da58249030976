//! Checks `docs/skill-rules.md`: every requirement once, with tests that cite it.

use crate::documents::text;

/// Returns the file of a test: `server::config::name` is in `tests/server/skills/config.rs`.
fn file(module: &str) -> String {
    match module {
        "server" => "tests/server/skills/mod.rs".into(),
        "config" => "tests/server/skills/config.rs".into(),
        _ => format!("tests/client/{module}.rs"),
    }
}

#[test]
fn every_requirement_has_tests_that_cite_it() {
    let document = text("docs/skill-rules.md");
    let mut next = 1;
    for row in document.lines().filter(|line| line.starts_with("| SK-")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[1], format!("SK-{next}"));
        next += 1;
        for test in cells[3].split('`').skip(1).step_by(2).filter(|word| word.contains("::")) {
            let (module, name) = test.split_once("::").unwrap();
            let code = text(&file(module));
            let (_, rest) = code
                .split_once(&format!("#[test]\nfn {name}() {{\n"))
                .unwrap_or_else(|| panic!("{test} does not exist"));
            let body = rest.split("\n}\n").next().unwrap();
            let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '-');
            assert!(words.any(|word| word == cells[1]), "{test} does not cite {}", cells[1]);
        }
    }
    assert_eq!(next, 35);
}
