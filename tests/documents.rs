//! Checks documents against code and tests, and the length of files.

use crate::support::ROOT;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

pub(crate) fn text(path: &str) -> String {
    read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn readme_shows_the_loops_that_are_built() {
    let readme = text("README.md");
    for (path, limit) in [
        ("examples/firmware/src/run.rs", 60),
        ("examples/event_loop/serve.rs", 50),
        ("examples/tokio_server.rs", 50),
        ("examples/tokio_client.rs", 30),
    ] {
        let file = text(path);
        let shown = format!("<!-- {path} -->\n```rust,ignore\n{file}```\n");
        assert!(readme.contains(&shown), "README.md does not show {path} as it is");
        assert!(file.lines().count() < limit, "{path} has {} lines", file.lines().count());
    }
}

/// Returns the number of lines that are neither empty nor a comment.
fn lines_of_code(path: &str) -> usize {
    let file = text(path);
    file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn counter_has_at_most_40_lines_of_code() {
    assert!(lines_of_code("examples/counter.rs") <= 40);
}

#[test]
fn examples_are_shorter_than_the_same_programs_on_rmcp() {
    let document = text("docs/examples.md");
    let rows = document.lines().filter(|line| line.contains(".rs` |"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, _, ours, lines, theirs, their_lines, _] = cells[..] else { panic!("{row}") };
        let measured = [lines_of_code(ours), lines_of_code(theirs)];
        assert_eq!([lines, their_lines], measured.map(|lines| lines.to_string()), "{row}");
        assert!(measured[0] < measured[1], "{row}");
        count += 1;
    }
    assert_eq!(count, 3);
}

#[test]
fn c_document_shows_the_programs_that_are_built() {
    for path in ["adapters/c/examples/blinky.c", "adapters/c/examples/serial.c"] {
        let shown = format!("<!-- {path} -->\n```c\n{}```\n", text(path));
        assert!(text("docs/c.md").contains(&shown), "docs/c.md does not show {path} as it is");
    }
}

#[test]
fn migration_guide_shows_the_program_that_is_built() {
    let path = ".ci/interop/rmcp/src/counter.rs";
    let shown = format!("<!-- {path} -->\n```rust,ignore\n{}```\n", text(path));
    assert!(text("adapters/tokio/src/guide/from_rmcp.md").contains(&shown), "the guide differs from {path}");
}

/// The command `.ci/footprint` writes the measured values into tables. Values in prose would become stale.
#[test]
fn prose_of_the_footprint_contains_no_measured_values() {
    let document = text("docs/footprint.md");
    let prose = document.lines().filter(|line| !line.starts_with('|'));
    for line in prose {
        let words = line.split(|letter: char| letter.is_whitespace() || letter == '(' || letter == '*');
        let is_measured = |word: &str| {
            let word = word.trim_end_matches(['.', ',', ';', ':', ')']);
            word.contains(',') && word.chars().all(|letter| letter.is_ascii_digit() || letter == ',')
        };
        assert!(!words.into_iter().any(is_measured) && !line.contains("KiB"), "{line}");
    }
}

#[test]
fn main_loops_use_only_the_core() {
    for path in
        ["examples/firmware/src/run.rs", "examples/event_loop/serve.rs", "examples/event_loop/main.rs"]
    {
        assert!(!text(path).contains("mcp_proto_std"), "{path}");
    }
}

#[test]
fn board_images_have_an_alias_and_a_description() {
    let (names, readme) = (text("examples/firmware/.cargo/config.toml"), text("examples/firmware/README.md"));
    let images = text("examples/firmware/boards/images");
    let images: Vec<_> = images.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(images.len() >= 6, "{images:?}");
    for line in images {
        let words: Vec<_> = line.split_whitespace().collect();
        let [image, board, target] = words[..] else { panic!("{line}") };
        let alias = names.lines().find(|line| line.starts_with(&format!("{image} = \"run ")));
        let alias = alias.unwrap_or_else(|| panic!("{image} has no alias"));
        assert!(alias.ends_with(&format!("--bin {image} --target {target}\"")), "{alias}");
        assert!(!text(&format!("examples/firmware/src/bin/{image}.rs")).is_empty());
        assert!(text(&format!("examples/firmware/boards/{board}/memory.x")).contains("FLASH"));
        assert!(image == "footprint" || readme.contains(&format!("| `{image}` |")), "{image} in README.md");
    }
}

#[test]
fn documented_rust_version_is_that_of_the_manifest() {
    let manifest = text("Cargo.toml");
    let version =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    for shown in [format!("Rust {version} or newer"), format!("badge/rust-{version}%2B-")] {
        assert!(text("README.md").contains(&shown), "README.md does not contain {shown}");
    }
    assert!(
        text("examples/firmware/Cargo.toml").contains(&format!("rust-version = \"{version}\"")),
        "firmware"
    );
}

#[test]
fn published_packages_are_complete() {
    let members = text("Cargo.toml");
    let members = members.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let folders = members.split('"').skip(1).step_by(2).chain(["."]);
    let mut published = 0;
    for folder in folders {
        let manifest = text(&format!("{folder}/Cargo.toml"));
        if manifest.contains("\npublish = false\n") {
            continue;
        }
        for key in [
            "description",
            "rust-version.workspace",
            "license.workspace",
            "keywords",
            "categories",
            "include",
        ] {
            assert!(manifest.contains(&format!("\n{key} = ")), "{folder}/Cargo.toml has no {key}");
        }
        for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(!text(&format!("{folder}/{file}")).is_empty(), "{folder}/{file}");
        }
        published += 1;
    }
    assert_eq!(published, 11);
}

/// Adds the Rust files below a folder to `found`.
pub(crate) fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn files_have_at_most_500_lines() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "examples", "adapters", "macros", "proptests", "benches"] {
        let folder = Path::new(ROOT).join(folder);
        if folder.is_dir() {
            rust_files(&folder, &mut files);
        }
    }
    // Build results are not source files.
    files.retain(|path| !path.components().any(|part| part.as_os_str() == "target"));
    assert!(files.len() > 50, "{}", files.len());
    for path in files {
        let lines = read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 500, "{} has {lines} lines", path.display());
    }
}

/// Returns the names of the modules that a file declares.
fn modules(path: &Path) -> Vec<String> {
    let file = read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let names = file.lines().filter_map(|line| line.trim_start_matches("pub(crate) ").strip_prefix("mod "));
    names.map(|line| line.trim_end_matches(';').to_owned()).collect()
}

#[test]
fn test_files_are_modules_of_their_binary() {
    let root = Path::new(ROOT);
    let mut folders: Vec<PathBuf> = [
        "",
        "proptests",
        "adapters/std",
        "adapters/tokio",
        "adapters/embedded",
        "adapters/inspect",
        "adapters/serial-bridge",
        "tests/transcripts",
    ]
    .map(|package| root.join(package).join("tests"))
    .into();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let names: Vec<String> = ["main.rs", "mod.rs"]
            .into_iter()
            .map(|file| folder.join(file))
            .filter(|path| path.exists())
            .flat_map(|path| modules(&path))
            .collect();
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_code = path.extension().is_some_and(|extension| extension == "rs");
            if path.is_dir() && path.join("mod.rs").exists() {
                folders.push(path.clone());
            } else if !is_code || ["main", "mod"].contains(&name) {
                continue;
            }
            assert!(names.iter().any(|known| known == name), "{} is in no test binary", path.display());
            files += 1;
        }
    }
    assert!(files > 100, "{files}");
}

#[test]
fn lifecycle_starts_only_in_constructors_and_reset() {
    let mut files = Vec::new();
    rust_files(&Path::new(ROOT).join("src"), &mut files);
    for path in files.iter().filter(|path| !path.ends_with("lifecycle.rs")) {
        let file = read_to_string(path).unwrap();
        // Only `new`, `reset_connection` and the constructors of a stored session set the state directly. The
        // transition table defines every other change of state.
        let begins = file.matches("Lifecycle::").count();
        let is_start = path.ends_with("peer/mod.rs") || path.ends_with("server/session.rs");
        let expected = if is_start { 2 } else { 0 };
        assert_eq!(begins, expected, "{}", path.display());
    }
}

#[test]
fn only_the_table_of_revisions_names_a_revision() {
    let mut files = Vec::new();
    rust_files(&Path::new(ROOT).join("src"), &mut files);
    let has_code = |path: &&PathBuf| !path.ends_with("tests.rs") && !path.ends_with("revision.rs");
    for path in files.iter().filter(has_code) {
        let file = read_to_string(path).unwrap();
        let code = file.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        assert!(!lines.any(|line| line.contains("Revision::V")), "{}: use `Revision::has`", path.display());
    }
}

#[test]
fn tests_named_by_the_rules_exist() {
    let document = text("docs/rules.md");
    let rules = document.split("## Invariants").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let sources = code(&["src", "tests", "proptests/tests"]);
    let words = rules.split('`').skip(1).step_by(2);
    let mut tests = 0;
    for word in words.filter(|word| {
        word.matches('_').count() >= 2 && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    }) {
        assert!(sources.contains(&format!("fn {word}(")), "docs/rules.md names {word}, which does not exist");
        tests += 1;
    }
    assert!(tests > 50, "{tests}");
}

/// Returns the cells of a table between two comments in a document.
fn table(document: &str, name: &str) -> Vec<Vec<String>> {
    let document = text(document);
    let (_, rest) = document.split_once(&format!("<!-- {name} -->\n")).unwrap();
    let rows = rest.split_once("<!-- end -->").unwrap().0.lines().skip(2);
    rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Returns all Rust code in these folders.
fn code(folders: &[&str]) -> String {
    let mut files = Vec::new();
    for folder in folders {
        rust_files(&Path::new(ROOT).join(folder), &mut files);
    }
    files.iter().map(|path| read_to_string(path).unwrap()).collect()
}

/// Returns all code with tests.
fn tests() -> String {
    code(&["src", "tests", "proptests/tests", "adapters"])
}

/// Returns whether the code has a test with this name.
fn is_test(code: &str, name: &str) -> bool {
    let header = format!("fn {name}(");
    code.match_indices(&header).any(|(at, _)| {
        let before = code[..at].trim_end();
        before.ends_with("#[test]") || before.ends_with("#[tokio::test]\nasync")
    })
}

/// Returns the words in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn compatibility_rows_name_existing_switches_and_tests() {
    let (library, everything) = (code(&["src"]), tests());
    let tested = |row: &[String]| {
        let cell = &row[row.len() - 2];
        assert!(!quoted(cell).is_empty(), "{row:?} names no test");
        assert!(!row.iter().any(|cell| cell.contains("to come")), "{row:?} is undecided");
        for name in quoted(cell) {
            assert!(is_test(&everything, name), "{}: {name} does not exist", row[1]);
        }
    };
    let sheets = table("docs/compatibility.md", "crib sheets");
    let numbers: Vec<String> = (1..=38).map(|number| format!("D{number}")).collect();
    assert_eq!(sheets.iter().map(|row| row[1].clone()).collect::<Vec<_>>(), numbers);
    for row in &sheets {
        assert_eq!(row.len(), 8, "{row:?}");
        tested(row);
        for switch in quoted(&row[5]) {
            assert!(library.contains(&format!("pub const fn {switch}(mut self")), "{}: {switch}", row[1]);
        }
    }
    let traps = table("docs/compatibility.md", "traps");
    let numbers: Vec<String> =
        (1..=59).filter(|number| ![39, 58].contains(number)).map(|number| number.to_string()).collect();
    assert_eq!(traps.iter().map(|row| row[1].clone()).collect::<Vec<_>>(), numbers);
    for row in &traps {
        assert_eq!(row.len(), 6, "{row:?}");
        tested(row);
    }
}

#[test]
fn attacks_name_existing_tests() {
    let (attacks, over_http) = (table("SECURITY.md", "attacks"), table("SECURITY.md", "http attacks"));
    let tests = tests();
    assert!(attacks.len() > 20 && over_http.len() > 10, "{} {}", attacks.len(), over_http.len());
    for row in attacks.into_iter().chain(over_http) {
        assert_eq!(row.len(), 5, "{row:?}");
        assert!(!quoted(&row[3]).is_empty(), "{row:?} names no test");
        for name in quoted(&row[3]) {
            assert!(is_test(&tests, name), "{}: {name} does not exist", row[1]);
        }
    }
}

/// Returns the lines that rustdoc shows in the examples of a file.
fn shown_code(source: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in source.lines() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_code = false;
            continue;
        };
        let text = text.trim();
        if text.starts_with("```") {
            is_code = !is_code;
        } else if is_code && !text.starts_with("# ") {
            lines.push(text);
        }
    }
    lines
}

#[test]
fn examples_of_an_adapter_use_only_the_adapter() {
    let root = Path::new(ROOT).join("adapters");
    let mut wrong = Vec::new();
    for adapter in ["handles", "std", "tokio", "tower"] {
        let mut files = Vec::new();
        rust_files(&root.join(adapter).join("src"), &mut files);
        for path in files {
            let source = read_to_string(&path).unwrap();
            let foreign = |line: &&str| line.contains("mcp_proto::") || line.contains("mcp_proto_handles::");
            wrong.extend(
                shown_code(&source).into_iter().filter(foreign).map(|line| (path.clone(), line.to_owned())),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn guides_of_an_adapter_use_only_the_adapter() {
    let mut programs = 0;
    for page in
        ["std/src/guide/server", "std/src/guide/client", "tokio/src/guide/server", "tokio/src/guide/client"]
    {
        let page = text(&format!("adapters/{page}.md"));
        for program in page.split("```rust").skip(1).map(|rest| rest.split("\n```").next().unwrap()) {
            assert!(!program.contains(",ignore") && !program.contains("mcp_proto::"), "{program}");
            programs += 1;
        }
    }
    assert_eq!(programs, 16);
}
