//! Features `Extensions` and `Experimental`: capabilities, methods and subscriptions that the application defines.
//!
//! Specification: 2026-07-28, *Extensions*; *Lifecycle*, *Capability negotiation*.

use crate::error::ConfigError;
use crate::json::{Json, Str, Writer};
use crate::peer::slots::Ticket;
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed};
use crate::server::features::catalog::{Catalog, Found, JOINS};
use crate::server::features::extension_request::{emit_extension_request, notification_event};
use crate::server::features::pagination::check_objects;
use crate::server::pending_event::PendingEvent;
use crate::server::server_state::ServerState;

/// The feature *extensions*: extensions of the application, with their methods.
///
/// Each extension has a name with a prefix, such as `com.example/drawings`, and settings. The settings are the JSON
/// text of an object. The server declares names and settings to clients of `2026-07-28`. A server may have several
/// features of this type, such as one for each extension.
///
/// The application handles the methods itself, in all revisions:
/// [`Event::Request`](crate::server::Event::Request) and [`Event::Notification`](crate::server::Event::Notification).
/// [`Server::notify`](crate::Server::notify), [`Server::notify_subscription`](crate::Server::notify_subscription) and
/// [`Server::request`](crate::Server::request) send messages of an extension.
///
/// ```
/// use mcp_proto::server::{Event, Extensions, ServerConfig};
/// static DRAWINGS: Extensions = Extensions::new(&[("com.example/drawings", "{}")])
///     .methods(&["drawings/render"])
///     .notifications(&["notifications/drawings/opened"])
///     .filter_members(&["drawingsListChanged"]);
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&DRAWINGS]);
///
/// fn on_event(event: Event<'_>) {
///     match event {
///         Event::Request(request) => match request.params().get("name").and_then(|name| name.string()) {
///             Some(name) => request.result_with(|out| {
///                 out.key("name");
///                 out.text(name);
///             }),
///             None => request.error(-32602, "`name` must be a string"),
///         },
///         Event::Notification { method, .. } => println!("received {method}"),
///         _ => {}
///     }
/// }
/// ```
///
/// Specification: 2026-07-28, *Extensions*.
#[derive(Debug, Clone, Copy)]
pub struct Extensions<'e> {
    declared: &'e [(&'e str, &'e str)],
    methods: &'e [&'e str],
    notifications: &'e [&'e str],
    filter_members: &'e [&'e str],
}

impl<'e> Extensions<'e> {
    /// Creates a feature with these names and settings.
    #[must_use]
    pub const fn new(extensions: &'e [(&'e str, &'e str)]) -> Extensions<'e> {
        Extensions { declared: extensions, methods: &[], notifications: &[], filter_members: &[] }
    }

    /// Sets the methods of requests: see [`Event::Request`](crate::server::Event::Request).
    ///
    /// Methods of the specification that the server supports have precedence. If two features have the same method, the
    /// first of these features in the configuration has precedence. In the handshake era, the server refuses requests
    /// of extensions before `initialize`.
    #[must_use]
    pub const fn methods(mut self, methods: &'e [&'e str]) -> Self {
        self.methods = methods;
        self
    }

    /// Sets the methods of notifications: see [`Event::Notification`](crate::server::Event::Notification).
    ///
    /// For any other unknown notification, the server emits
    /// [`ProtocolError::UnknownNotification`](crate::ProtocolError::UnknownNotification).
    #[must_use]
    pub const fn notifications(mut self, methods: &'e [&'e str]) -> Self {
        self.notifications = methods;
        self
    }

    /// Sets the filter members of `subscriptions/listen` that belong to the extensions (`2026-07-28`).
    ///
    /// The acknowledgment repeats such a member, unless the member has the value `null` or `false`, or does not fit
    /// into the transmit buffer. [`Listening::filter`](crate::server::Listening::filter) returns the whole filter.
    /// Filter members have no effect without the feature [`Subscriptions`](crate::server::Subscriptions) or
    /// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions).
    #[must_use]
    pub const fn filter_members(mut self, members: &'e [&'e str]) -> Self {
        self.filter_members = members;
        self
    }
}

impl Feature for Extensions<'_> {}

impl Sealed for Extensions<'_> {
    fn write_capability(&self, config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
        write_extensions(self, config, revision, out);
    }

    fn find(&self, catalog: Catalog, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Extensions => Found::Extensions(self),
            _ => Found::Absent,
        }
    }

    fn has_extension_method(&self, name: Str<'_>, is_request: bool) -> bool {
        let methods = if is_request { self.methods } else { self.notifications };
        methods.iter().any(|method| name.is_name(method))
    }

    fn emit_notification(&self, state: &mut ServerState<'_>) -> Received {
        state.emit(PendingEvent::Feature { event: notification_event, ticket: Ticket::NONE })
    }

    fn handle<'b>(&'b self, _: usize, request: &mut Request<'_, 'b>) -> Received {
        emit_extension_request(request)
    }

    fn write_filter(&self, filter: Json<'_>, out: &mut Writer<'_>) {
        let requested =
            |name| filter.get(name).filter(|value| !value.is_null() && value.boolean() != Some(false));
        for (name, value) in self.filter_members.iter().filter_map(|name| Some((name, requested(name)?))) {
            let before = out.mark();
            out.field_json(name, value);
            // The closing brackets of the message must still fit.
            if out.remaining() < "}}}".len() {
                out.rollback(before);
            }
        }
    }

    fn check(&self, _: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        for names in [self.methods, self.notifications, self.filter_members] {
            let repeats =
                |(entry, name): (usize, &&str)| names.iter().take(entry).any(|earlier| earlier == name);
            if let Some(entry) = names.iter().enumerate().position(repeats) {
                return Err(ConfigError::DuplicateName { entry });
            }
        }
        match self.declared.iter().position(|(name, _)| !is_prefixed(name)) {
            Some(entry) => Err(ConfigError::InvalidName { entry }),
            None => check(self.declared),
        }
    }
}

/// The feature *experimental*: experimental capabilities, each with a name and settings.
///
/// Settings are the JSON text of an object. Configure this feature at most once per server.
#[derive(Debug, Clone, Copy)]
pub struct Experimental<'e>(&'e [(&'e str, &'e str)]);

impl<'e> Experimental<'e> {
    /// Creates the feature with these experimental capabilities.
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

    fn find(&self, catalog: Catalog, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Experimental => Found::Experimental,
            _ => Found::Absent,
        }
    }

    fn check(&self, _: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        check(self.0)
    }
}

fn write(key: &str, entries: &[(&str, &str)], out: &mut Writer<'_>) {
    out.begin_object_at(key);
    write_entries(entries.iter(), out);
    out.end_object();
}

fn write_entries<'e>(entries: impl Iterator<Item = &'e (&'e str, &'e str)>, out: &mut Writer<'_>) {
    for (name, settings) in entries {
        out.key(name);
        // `Server::new` has validated the settings.
        let _ = out.raw(settings);
    }
}

/// Writes the capability `extensions` with the entries of all features. Writes nothing if `own` does not belong to the
/// first feature with extensions, or if the revision has no extensions.
pub(crate) fn write_extensions(
    own: &Extensions<'_>,
    config: &ServerConfig<'_>,
    revision: Revision,
    out: &mut Writer<'_>,
) {
    let all = || config.features.iter().filter_map(|feature| extensions_of(*feature));
    let is_first = all().next().is_some_and(|first| core::ptr::eq(first, own));
    if !is_first || !revision.has(WireFeature::Extensions) {
        return;
    }
    out.begin_object_at("extensions");
    for (index, extensions) in all().enumerate() {
        let is_new = |name: &str| !JOINS || !all().take(index).any(|earlier| earlier.declares(name));
        write_entries(extensions.declared.iter().filter(|(name, _)| is_new(name)), out);
    }
    out.end_object();
}

impl Extensions<'_> {
    /// Returns whether this feature declares an extension with this name.
    fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|(declared, _)| *declared == name)
    }

    /// Returns the name of the first extension that both features declare with different settings. If there is no such
    /// extension, returns the first filter member that both features have, or `None`.
    pub(crate) fn contradiction<'a>(&'a self, other: &Extensions<'_>) -> Option<&'a str> {
        let differs = |(name, settings): &&(&str, &str)| {
            other.declared.iter().any(|(known, with)| known == name && with != settings)
        };
        let extension = self.declared.iter().find(differs).map(|(name, _)| *name);
        let is_known = |member: &&&str| other.filter_members.contains(member);
        extension.or_else(|| self.filter_members.iter().find(is_known).copied())
    }
}

pub(crate) fn is_experimental(feature: &dyn Feature) -> bool {
    !feature.find(Catalog::Experimental, &|_| true).is_absent()
}

/// Returns the extensions of a feature. Returns `None` if the feature has no extensions.
pub(crate) fn extensions_of(feature: &dyn Feature) -> Option<&Extensions<'_>> {
    match feature.find(Catalog::Extensions, &|_| true) {
        Found::Extensions(extensions) => Some(extensions),
        _ => None,
    }
}

fn check(entries: &[(&str, &str)]) -> Result<(), ConfigError> {
    for (entry, (name, settings)) in entries.iter().enumerate() {
        if entries.iter().take(entry).any(|(earlier, _)| earlier == name) {
            return Err(ConfigError::DuplicateName { entry });
        }
        check_objects(entry, [Some(settings), None, None])?;
    }
    Ok(())
}

/// Returns whether a name follows the rules for `_meta` keys with a prefix. Such a key consists of labels with dots
/// between them, a slash, and a name that may be empty.
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
