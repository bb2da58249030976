//! Checks that modules of `src` import only from the layers that ARCHITECTURE.md permits.

use crate::documents::{rust_files, text};
use crate::support::ROOT;
use std::path::Path;

/// Returns the layers that ARCHITECTURE.md shows, leftmost first. Modules of one layer may not import each other.
fn layers() -> Vec<Vec<String>> {
    let architecture = text("ARCHITECTURE.md");
    let line = architecture.lines().find(|line| line.starts_with("platform → ")).expect("the line of layers");
    let names = |layer: &str| layer.split(" | ").map(String::from).collect();
    line.split(" → ").map(names).collect()
}

/// Returns the modules that a file names after `crate::`. Ignores comments, strings and unit tests.
fn imports(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code_lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut found = Vec::new();
    for line in code_lines {
        for (at, _) in line.match_indices("crate::") {
            let (before, path) = (&line[..at], &line[at + "crate::".len()..]);
            // `$crate` in a macro is not an import, and neither is a path in a string.
            if before.ends_with('$') || before.matches('"').count() % 2 == 1 {
                continue;
            }
            let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            found.push(&path[..end.unwrap_or(path.len())]);
        }
    }
    found
}

/// Returns the top-level module of a file in `src`.
fn module(path: &Path) -> String {
    let inner = path.strip_prefix(Path::new(ROOT).join("src")).unwrap();
    let first = inner.components().next().unwrap().as_os_str().to_str().unwrap();
    String::from(first.trim_end_matches(".rs"))
}

#[test]
fn imports_are_found_in_code_only() {
    let source = "use crate::a::B; // crate::b\n$crate::c!(\"crate::d\", crate::e)\n/// crate::f\n\
                  #[cfg(test)]\nmod tests {\n    use crate::g;\n}\n";
    assert_eq!(imports(source), ["a", "e"]);
}

#[test]
fn modules_import_only_from_layers_to_their_left() {
    let layers = layers();
    let rank = |name: &str| layers.iter().position(|layer| layer.iter().any(|module| module == name));
    let mut files = Vec::new();
    rust_files(&Path::new(ROOT).join("src"), &mut files);
    assert!(files.len() > 100, "{}", files.len());
    let mut wrong = Vec::new();
    for path in &files {
        let (name, module) = (path.file_name().unwrap().to_str().unwrap(), module(path));
        if name.ends_with("tests.rs") || module == "lib" {
            continue;
        }
        let own = rank(&module).unwrap_or_else(|| panic!("ARCHITECTURE.md has no layer for `{module}`"));
        let source = std::fs::read_to_string(path).unwrap();
        for import in imports(&source) {
            if import != module && rank(import).is_none_or(|other| other >= own) {
                wrong.push(format!("{}: crate::{import}", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports from a layer to the right, or from the crate's root:\n{}",
        wrong.join("\n")
    );
}
