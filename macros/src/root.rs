//! The path by which generated code names the items of `mcp-proto`.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The crates that export all items of `mcp-proto`, in order of preference.
const CRATES: [&str; 4] = ["mcp-proto", "mcp-proto-tokio", "mcp-proto-std", "mcp-proto-tower"];

/// Returns the path of `mcp-proto`, or of the adapter through which the compiled package uses `mcp-proto`.
///
/// An adapter exports all items of `mcp-proto`, so an application with an adapter need not depend on `mcp-proto`
/// itself. The macro searches the manifest of the package for these crates. If the application renames the dependency,
/// or prefers an optional dependency to an unconditional one, the application must write `#[tool(crate = path)]`.
pub(crate) fn default_root() -> TokenStream {
    // Read the manifest for each use of a macro, because an editor runs the macros of many packages in one process.
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let manifest = std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")).unwrap_or_default();
    let name = Ident::new(&find_root(&manifest).replace('-', "_"), Span::call_site());
    quote!(::#name)
}

/// Returns one of the [`CRATES`] that is a dependency in this manifest, or `mcp-proto` if none is.
///
/// Dependencies that only tests or build scripts can use come last. Within both groups, unconditional dependencies
/// precede optional dependencies and those of a platform. If several crates remain, the function returns the first of
/// the [`CRATES`].
fn find_root(manifest: &str) -> &'static str {
    let rank = |dependency: &Dependency<'_>| {
        let index = CRATES.iter().position(|name| *name == dependency.name)?;
        Some((dependency.is_for_development, dependency.is_conditional, index))
    };
    dependencies(manifest).iter().filter_map(rank).min().map_or(CRATES[0], |(.., index)| CRATES[index])
}

/// A dependency in a manifest.
struct Dependency<'m> {
    /// The path of its table, such as `dev-dependencies`.
    path: &'m str,
    name: &'m str,
    /// Whether only tests or build scripts can use the dependency.
    is_for_development: bool,
    /// Whether the dependency is optional, or only for some platforms.
    is_conditional: bool,
}

/// A table of a manifest.
#[derive(Clone, Copy)]
enum Table<'m> {
    /// A table of dependencies, with its path, such as `dev-dependencies`.
    Dependencies(&'m str),
    /// The table of one dependency: the last dependency that was found.
    Dependency,
    Other,
}

/// Returns all dependencies in a manifest, including those for builds and tests.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let is_dependencies = |path: &str| path.ends_with("dependencies") && !path.starts_with("workspace.");
    let mut dependencies: Vec<Dependency<'_>> = Vec::new();
    let mut table = Table::Other;
    // The index of the dependency that was found last.
    let mut last = 0;
    for line in manifest.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let mut found = None;
        if let Some(header) = line.strip_prefix('[') {
            let path = header.split(']').next().unwrap_or_default();
            table = match path.rsplit_once('.') {
                _ if is_dependencies(path) => Table::Dependencies(path),
                Some((parent, name)) if is_dependencies(parent) => {
                    found = Some((parent, name));
                    Table::Dependency
                }
                _ => Table::Other,
            };
        } else if let Table::Dependencies(path) = table {
            let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
            found = line.split(is_end).next().map(|name| (path, name)).filter(|(_, name)| !name.is_empty());
        }
        if let Some((path, name)) = found {
            // A dependency may have several dotted lines, such as `mcp-proto.optional = true`.
            let known = dependencies.iter().position(|known| known.path == path && known.name == name);
            last = known.unwrap_or(dependencies.len());
            if known.is_none() {
                dependencies.push(Dependency {
                    path,
                    name,
                    is_for_development: path.ends_with("dev-dependencies")
                        || path.ends_with("build-dependencies"),
                    is_conditional: path.starts_with("target."),
                });
            }
        }
        if !matches!(table, Table::Other)
            && line.replace(' ', "").contains("optional=true")
            && let Some(dependency) = dependencies.get_mut(last)
        {
            dependency.is_conditional = true;
        }
    }
    dependencies
}

#[cfg(test)]
mod tests {
    use super::find_root;

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
            // Each of these manifests has a dependency that only tests or build scripts can use.
            (
                "[dev-dependencies]\nmcp-proto = \"1\"\n[dependencies]\nmcp-proto-tower = \"1\"",
                "mcp-proto-tower",
            ),
            ("[dependencies]\nmcp-proto-tower = \"1\"\n[dev-dependencies.mcp-proto-std]", "mcp-proto-tower"),
            (
                "[dependencies.mcp-proto-tower]\n[target.'cfg(unix)'.dev-dependencies]\nmcp-proto = \"1\"",
                "mcp-proto-tower",
            ),
            (
                "[build-dependencies]\nmcp-proto = \"1\"\n[dependencies]\nmcp-proto-std = \"1\"",
                "mcp-proto-std",
            ),
            ("[build-dependencies]\nmcp-proto-std = \"1\"", "mcp-proto-std"),
            // Each of these manifests has a dependency that is optional, or only for some platforms.
            (
                "[dependencies]\nmcp-proto = { version = \"1\", optional = true }\nmcp-proto-std = \"1\"",
                "mcp-proto-std",
            ),
            (
                "[dependencies]\nmcp-proto-std = \"1\"\n[dependencies.mcp-proto]\noptional=true",
                "mcp-proto-std",
            ),
            (
                "[dependencies]\nmcp-proto = { features = [\n    \"std\",\n], optional = true }\nmcp-proto-std = \"1\"",
                "mcp-proto-std",
            ),
            (
                "[dependencies]\nmcp-proto.version = \"1\"\nmcp-proto-std = \"1\"\nmcp-proto.optional = true",
                "mcp-proto-std",
            ),
            (
                "[dependencies]\nmcp-proto.optional = true\nmcp-proto.version = \"1\"\nmcp-proto-std = \"1\"",
                "mcp-proto-std",
            ),
            (
                "[target.'cfg(unix)'.dependencies]\nmcp-proto = { optional = true }\n[dependencies]\nmcp-proto = \"1\"\nmcp-proto-std = \"1\"",
                "mcp-proto",
            ),
            ("[dependencies]\nmcp-proto-tokio = { optional = true }", "mcp-proto-tokio"),
            (
                "[dependencies]\nmcp-proto-tokio = \"1\"\n[target.'cfg(windows)'.dependencies]\nmcp-proto = \"1\"",
                "mcp-proto-tokio",
            ),
            // Each of these manifests contains names that are not dependencies of the package.
            ("[package]\nname = \"mcp-proto-std\"\n[features]\nmcp-proto-tokio = []", "mcp-proto"),
            (
                "[workspace.dependencies]\nmcp-proto-tokio = \"1\"\n[workspace.dependencies.mcp-proto-std]",
                "mcp-proto",
            ),
            ("[dependencies]\n# mcp-proto-tokio = \"1\"\nmcp-proto-tokio-more = \"1\"", "mcp-proto"),
            ("[patch.crates-io]\nmcp-proto = {}\n[dependencies]\nmcp-proto-tokio = \"1\"", "mcp-proto-tokio"),
        ] {
            assert_eq!(find_root(manifest), expected, "{manifest}");
        }
    }
}
