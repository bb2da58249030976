//! Features `Extensions` and `Experimental`: capabilities beyond the specification.
//!
//! Specification: 2026-07-28, *Extensions*; *Lifecycle*, *Capability negotiation*.

use crate::error::ConfigError;
use crate::json::{Json, Kind, Writer};
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, Measure, Sealed};
use crate::server::features::catalogue::{Catalogue, Found};

/// The feature *extensions* (since `2026-07-28`): names and settings of extensions.
///
/// Settings are the JSON text of an object. Names have a prefix: `com.example/drawings`. Configure this feature at most
/// once per server. The client's extensions are in
/// [`Call::client_capabilities`](crate::server::Call::client_capabilities).
///
/// ```
/// use mcp_proto::server::{Extensions, ServerConfig};
/// static EXTENSIONS: Extensions = Extensions::new(&[("com.example/drawings", "{}")]);
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&EXTENSIONS]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Extensions<'e>(&'e [(&'e str, &'e str)]);

impl<'e> Extensions<'e> {
    /// A feature with these extensions.
    #[must_use]
    pub const fn new(extensions: &'e [(&'e str, &'e str)]) -> Extensions<'e> {
        Extensions(extensions)
    }
}

impl Feature for Extensions<'_> {}

impl Sealed for Extensions<'_> {
    fn write_capability(&self, config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
        write_extensions(self, config, revision, out);
    }

    fn find(&self, catalogue: Catalogue, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalogue {
            Catalogue::Extensions => Found::Extensions(self),
            _ => Found::Absent,
        }
    }

    fn check(&self, _: Revision, _: &ServerConfig<'_>, _: Measure<'_>) -> Result<(), ConfigError> {
        match self.0.iter().position(|(name, _)| !is_prefixed(name)) {
            Some(entry) => Err(ConfigError::InvalidName { entry }),
            None => check(self.0),
        }
    }
}

/// The feature *experimental*: experimental capabilities, each with a name and settings.
///
/// Settings are the JSON text of an object. Configure this feature at most once per server.
#[derive(Debug, Clone, Copy)]
pub struct Experimental<'e>(&'e [(&'e str, &'e str)]);

impl<'e> Experimental<'e> {
    /// A feature with these experimental capabilities.
    #[must_use]
    pub const fn new(experiments: &'e [(&'e str, &'e str)]) -> Experimental<'e> {
        Experimental(experiments)
    }
}

impl Feature for Experimental<'_> {}

impl Sealed for Experimental<'_> {
    fn write_capability(&self, _: &ServerConfig<'_>, _: Revision, out: &mut Writer<'_>) {
        write("experimental", self.0, out);
    }

    fn check(&self, _: Revision, _: &ServerConfig<'_>, _: Measure<'_>) -> Result<(), ConfigError> {
        check(self.0)
    }
}

fn write(key: &str, entries: &[(&str, &str)], out: &mut Writer<'_>) {
    out.key(key);
    out.begin_object();
    write_entries(entries, out);
    out.end_object();
}

fn write_entries(entries: &[(&str, &str)], out: &mut Writer<'_>) {
    for (name, settings) in entries {
        out.key(name);
        // `Server::new` has validated the settings.
        let _ = out.raw(settings);
    }
}

/// Writes the capability `extensions` with the entries of all features. Only the first feature with extensions writes
/// it.
pub(crate) fn write_extensions(
    own: &Extensions<'_>,
    config: &ServerConfig<'_>,
    revision: Revision,
    out: &mut Writer<'_>,
) {
    let all = || config.features.iter().filter_map(|feature| extensions_of(*feature));
    let is_first = all().next().is_some_and(|first| core::ptr::eq(first.0, own.0));
    if !is_first || !revision.has(WireFeature::Extensions) {
        return;
    }
    out.key("extensions");
    out.begin_object();
    all().for_each(|extensions| write_entries(extensions.0, out));
    out.end_object();
}

/// The extensions that a feature declares.
fn extensions_of(feature: &dyn Feature) -> Option<&Extensions<'_>> {
    match feature.find(Catalogue::Extensions, &|_| true) {
        Found::Extensions(extensions) => Some(extensions),
        _ => None,
    }
}

fn check(entries: &[(&str, &str)]) -> Result<(), ConfigError> {
    for (entry, (name, settings)) in entries.iter().enumerate() {
        if entries.iter().take(entry).any(|(earlier, _)| earlier == name) {
            return Err(ConfigError::DuplicateName { entry });
        }
        let settings = Json::parse(settings.as_bytes());
        let settings = settings.map_err(|error| ConfigError::InvalidJson { entry, error })?;
        if settings.kind() != Kind::Object {
            return Err(ConfigError::NotAnObject { entry });
        }
    }
    Ok(())
}

/// Whether a name follows the rules for `_meta` keys with a prefix. Such a key consists of labels with dots between
/// them, then a slash, then a name.
fn is_prefixed(name: &str) -> bool {
    let Some((prefix, name)) = name.split_once('/') else { return false };
    let ends = |text: &str, first: fn(&u8) -> bool| {
        let bytes = text.as_bytes();
        bytes.first().is_some_and(first) && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
    };
    let inner = |text: &str, others: &[u8]| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
    };
    let label = |label: &str| ends(label, u8::is_ascii_alphabetic) && inner(label, b"-");
    prefix.split('.').all(label)
        && (name.is_empty() || ends(name, u8::is_ascii_alphanumeric) && inner(name, b"-_."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_prefixed_follows_the_rules_of_meta_keys() {
        for name in ["com.example/x", "a/b", "io.my-org2/a_b.c-d9", "a/"] {
            assert!(is_prefixed(name), "{name}");
        }
        for name in ["", "x", "/x", "1a/x", "a-/x", "a..b/x", "a/-x", "a/x_", "a/b/c", "a/\u{e9}", "a b/x"] {
            assert!(!is_prefixed(name), "{name}");
        }
    }
}
