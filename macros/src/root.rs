//! The path by which generated code names the items of `mcp-proto`.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The crates that export all items of `mcp-proto`, in order of preference.
const CRATES: [&str; 4] = ["mcp-proto", "mcp-proto-tokio", "mcp-proto-std", "mcp-proto-tower"];

/// Returns the path of `mcp-proto`, or of the adapter through which the compiled package uses `mcp-proto`.
///
/// An adapter exports all items of `mcp-proto`, so an application with an adapter does not depend on `mcp-proto`
/// itself. The macro searches the manifest of the package for these crates. If the dependency is renamed, the
/// application must write `#[tool(crate = path)]`.
pub(crate) fn default_root() -> TokenStream {
    // Read again for each use, because an editor runs the macros of many packages in one process.
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let manifest = std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")).unwrap_or_default();
    let name = Ident::new(&root_of(&manifest).replace('-', "_"), Span::call_site());
    quote!(::#name)
}

/// Returns the first of the [`CRATES`] that is a dependency in this manifest, or `mcp-proto` without such a
/// dependency.
fn root_of(manifest: &str) -> &'static str {
    let has = |name: &&&str| dependencies(manifest).any(|dependency| dependency == **name);
    CRATES.iter().find(has).unwrap_or(&CRATES[0])
}

/// Returns the names of all dependencies in a manifest, including those for builds and tests.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let mut is_table = false;
    manifest.lines().map(str::trim).filter_map(move |line| {
        let Some(header) = line.strip_prefix('[') else {
            let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
            return line.split(is_end).next().filter(|_| is_table);
        };
        let header = header.split(']').next().unwrap_or_default();
        is_table = header.ends_with("dependencies") && !header.starts_with("workspace.");
        let (table, name) = header.rsplit_once('.')?;
        (table.ends_with("dependencies") && !table.starts_with("workspace.")).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::root_of;

    #[test]
    fn manifest_names_the_crate_of_generated_code() {
        for (manifest, expected) in [
            ("", "mcp-proto"),
            ("[dependencies]\nserde = \"1\"", "mcp-proto"),
            ("[dependencies]\nmcp-proto-tokio = \"1\"", "mcp-proto-tokio"),
            ("[dependencies]\nmcp-proto-std.workspace = true", "mcp-proto-std"),
            ("[dependencies]\nmcp-proto-tokio = \"1\"\n mcp-proto = { path = \".\" }", "mcp-proto"),
            ("[dependencies.mcp-proto-tower]\nversion = \"1\"", "mcp-proto-tower"),
            ("[target.'cfg(unix)'.dependencies]\nmcp-proto-std = \"1\"", "mcp-proto-std"),
            ("[dev-dependencies]\nmcp-proto-std = \"1\"", "mcp-proto-std"),
            // These names are not dependencies of the package.
            ("[package]\nname = \"mcp-proto-std\"\n[features]\nmcp-proto-tokio = []", "mcp-proto"),
            (
                "[workspace.dependencies]\nmcp-proto-tokio = \"1\"\n[workspace.dependencies.mcp-proto-std]",
                "mcp-proto",
            ),
            ("[dependencies]\n# mcp-proto-tokio = \"1\"\nmcp-proto-tokio-more = \"1\"", "mcp-proto"),
            ("[patch.crates-io]\nmcp-proto = {}\n[dependencies]\nmcp-proto-tokio = \"1\"", "mcp-proto-tokio"),
        ] {
            assert_eq!(root_of(manifest), expected, "{manifest}");
        }
    }
}
