//! JSONTestSuite (Nicolas Seriot): the scanner accepts `y_` files and refuses `n_` files, whole and in pieces.

use mcp_proto::json::{DEPTH_LIMIT, ScanError, Scanner};
use std::path::PathBuf;

fn folder() -> PathBuf {
    match std::env::var_os("JSON_SUITE_DIR") {
        Some(folder) => folder.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/json-suite"),
    }
}

fn scan(text: &[u8], piece: usize) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    text.chunks(piece).for_each(|piece| scanner.feed(piece));
    scanner.finish()
}

#[test]
fn json_test_suite_is_decided_correctly() {
    let folder = folder();
    let Ok(files) = std::fs::read_dir(&folder) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "no test suite in {}", folder.display());
        eprintln!("NOT RUN: no JSON test suite in {} (set JSON_SUITE_DIR)", folder.display());
        return;
    };
    let mut decided = 0;
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).unwrap();
        let whole = scan(&text, text.len().max(1));
        match name.get(..2) {
            Some("y_") => assert!(whole.is_ok(), "{name}: {whole:?}"),
            Some("n_") => assert!(whole.is_err(), "{name} is not JSON"),
            _ => {}
        }
        decided += usize::from(name.starts_with("y_") || name.starts_with("n_"));
        for piece in 1..=9 {
            assert_eq!(scan(&text, piece), whole, "{name} in pieces of {piece}");
        }
    }
    assert!(decided > 250, "only {decided} files in {}", folder.display());
}
