//! `docs/http-rules.md` names tests that exist.

use std::path::Path;

#[test]
fn tests_named_by_the_rules_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(root.join("../../docs/http-rules.md")).unwrap();
    let mut count = 0;
    for name in document.split('`').skip(1).step_by(2).filter(|name| name.contains("::")) {
        let Some((module, test)) = name.split_once("::").filter(|(module, _)| *module != "Policy") else {
            continue;
        };
        let (folder, module) = match module.strip_prefix("std/") {
            Some(module) => ("../std/tests", module),
            None if module.starts_with("client") => ("tests", module),
            None => ("tests/server", module),
        };
        let path = root.join(folder).join(module);
        let path = if path.is_dir() { path.join("mod.rs") } else { path.with_extension("rs") };
        let file = std::fs::read_to_string(path).unwrap();
        assert!(file.contains(&format!("fn {test}()")), "{name}");
        count += 1;
    }
    assert!(count > 60, "{count}");
}
