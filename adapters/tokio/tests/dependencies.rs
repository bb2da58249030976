//! The dependencies of this crate.

#[test]
fn required_dependencies_and_tokio_features_are_few() {
    let manifest = include_str!("../Cargo.toml");
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let (dependencies, _) = rest.split_once("\n\n").unwrap();
    let required = dependencies.lines().filter(|line| !line.contains("optional = true"));
    let names: Vec<_> = required.filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    assert_eq!(names, ["mcp-proto", "mcp-proto-handles", "tokio"]);
    let tokio = dependencies.lines().find(|line| line.starts_with("tokio ")).unwrap();
    let (_, features) = tokio.split_once("features = [").unwrap();
    // Without `net`, `macros` and threads: a single-threaded runtime suffices.
    assert_eq!(features.trim_end_matches("] }"), r#""io-util", "process", "rt", "sync", "time""#);
}
