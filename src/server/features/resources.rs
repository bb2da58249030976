//! Feature `Resources`: catalogs, `resources/list`, and checks of `resources/read`.
//!
//! Specification: *Server features*, *Resources*.

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Span, Str, WriteBody, Writer};
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::resource::{Resource, ResourceTemplate};
use crate::protocol::revision::{Revision, WireFeature};
use crate::protocol::uri_template;
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed};
#[cfg(feature = "alloc")]
use crate::server::features::catalog::entry_in;
use crate::server::features::catalog::{Catalog, Entries, Found, JOINS, duplicate_of, find_in, position};
use crate::server::features::dynamic_list::{ListResources, ListTemplates};
use crate::server::features::pagination;
use crate::server::features::read_resource::ReadResource;
use crate::server::pending_event::RequestKind;

/// The feature *resources*: static catalogs, or dynamic lists that the application provides.
///
/// ```
/// use mcp_proto::server::{Resource, Resources, ServerConfig, ResourceTemplate};
/// static RESOURCES: Resources = Resources::new(&[Resource::new("board://log", "log")])
///     .templates(&[ResourceTemplate::new("board://pin/{number}", "pin")]);
/// static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&RESOURCES]);
/// ```
///
/// For each valid `resources/read` the server emits [`Event::ReadResource`](crate::server::Event::ReadResource). The
/// server finds a resource by linear search, suitable for hundreds of resources.
#[derive(Debug, Clone, Copy)]
pub struct Resources<'t> {
    catalog: Entries<'t, Resource<'t>>,
    templates: Entries<'t, ResourceTemplate<'t>>,
    list_changed: bool,
    subscribe: bool,
}

duplicate_of!(duplicate, Resource, uri);
duplicate_of!(duplicate_template, ResourceTemplate, uri);

/// Returns the index of the first invalid template, or `None` if all templates are valid.
const fn invalid_template(templates: &[ResourceTemplate<'_>]) -> Option<usize> {
    position!(templates, |template, index| !uri_template::is_valid(template.uri))
}

// Indices in `methods`.
const READ: usize = 0;
const LIST: usize = 1;

impl<'t> Resources<'t> {
    /// Creates the feature with a static catalog. The server lists the resources, and refuses to read unknown
    /// resources.
    ///
    /// Use this function in constants and statics, where two resources with the same URI do not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Resource, Resources};
    /// static RESOURCES: Resources = Resources::new(&[Resource::new("a:b", "b"), Resource::new("a:b", "c")]);
    /// ```
    ///
    /// # Panics
    /// Two resources have the same URI. At run time, use [`try_new`](Resources::try_new).
    #[must_use]
    #[expect(clippy::panic, reason = "meant for constants and statics, where a panic is a compile error")]
    pub const fn new(catalog: &'t [Resource<'t>]) -> Resources<'t> {
        match Resources::try_new(catalog) {
            Ok(resources) => resources,
            Err(_) => panic!("two resources have the same URI: URIs must be unique"),
        }
    }

    /// Creates the feature with a catalog that is built at run time.
    ///
    /// # Errors
    /// [`ConfigError::DuplicateName`]: two resources have the same URI.
    pub const fn try_new(catalog: &'t [Resource<'t>]) -> Result<Resources<'t>, ConfigError> {
        match duplicate(catalog) {
            Some(entry) => Err(ConfigError::DuplicateName { entry }),
            None => Ok(Resources {
                catalog: Entries::fixed(catalog),
                templates: Entries::fixed(&[]),
                ..Resources::dynamic_list()
            }),
        }
    }

    /// Creates the feature with dynamic lists of resources and templates, which the application provides.
    ///
    /// See [`Event::ListResources`](crate::server::Event::ListResources) and
    /// [`Event::ListTemplates`](crate::server::Event::ListTemplates). The server emits
    /// [`Event::ReadResource`](crate::server::Event::ReadResource) for any URI.
    #[must_use]
    pub const fn dynamic_list() -> Resources<'static> {
        Resources {
            catalog: Entries::dynamic(ListResources::event),
            templates: Entries::dynamic(ListTemplates::event),
            list_changed: false,
            subscribe: false,
        }
    }

    /// Sets the static catalog of templates. The server lists the templates, and accepts `resources/read` for URIs that
    /// match a template.
    ///
    /// Use this function in constants and statics, where invalid templates do not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Resources, ResourceTemplate};
    /// static RESOURCES: Resources = Resources::new(&[]).templates(&[ResourceTemplate::new("a:{b", "b")]);
    /// ```
    ///
    /// # Panics
    /// A template is not valid, or two templates have the same pattern. At run time, use
    /// [`try_templates`](Resources::try_templates).
    #[must_use]
    #[expect(clippy::panic, reason = "meant for constants and statics, where a panic is a compile error")]
    pub const fn templates(self, templates: &'t [ResourceTemplate<'t>]) -> Self {
        match self.try_templates(templates) {
            Ok(resources) => resources,
            Err(ConfigError::DuplicateName { .. }) => panic!("two templates have the same pattern"),
            Err(_) => panic!("invalid URI template: stray braces, or a simple variable after a reserved one"),
        }
    }

    /// Sets a catalog of templates that is built at run time.
    ///
    /// # Errors
    /// [`ConfigError::InvalidTemplate`]: a template has braces that do not enclose names, or a `{name}` after a
    /// `{+name}`. [`ConfigError::DuplicateName`]: two templates have the same pattern.
    pub const fn try_templates(mut self, templates: &'t [ResourceTemplate<'t>]) -> Result<Self, ConfigError> {
        if let Some(entry) = invalid_template(templates) {
            return Err(ConfigError::InvalidTemplate { entry });
        }
        if let Some(entry) = duplicate_template(templates) {
            return Err(ConfigError::DuplicateName { entry });
        }
        self.templates = Entries::fixed(templates);
        Ok(self)
    }

    /// Returns the resources and the templates of static catalogs. Each slice is empty if its list is dynamic.
    #[cfg(feature = "derive")]
    pub(crate) fn entries(&self) -> (&'t [Resource<'t>], &'t [ResourceTemplate<'t>]) {
        (self.catalog.fixed, self.templates.fixed)
    }

    /// Declares `listChanged`. Report changes with [`Server::changed`](crate::Server::changed).
    #[must_use]
    pub const fn list_changed(mut self) -> Self {
        self.list_changed = true;
        self
    }

    /// Declares `subscribe`: clients can subscribe to changes of single resources.
    ///
    /// The server must also have the feature [`Subscriptions`](crate::server::Subscriptions) or
    /// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions).
    #[must_use]
    pub const fn subscribe(mut self) -> Self {
        self.subscribe = true;
        self
    }
}

impl Feature for Resources<'_> {}

impl Sealed for Resources<'_> {
    fn write_capability(&self, config: &ServerConfig<'_>, _: Revision, out: &mut Writer<'_>) {
        out.members(r#""resources":{"#);
        if self.subscribe || JOINS && declares_subscribe(config) {
            out.field_boolean("subscribe", true);
        }
        if config.declares_changes(self.list_changed, ChangeSet::RESOURCES) {
            out.field_boolean("listChanged", true);
        }
        out.end_object();
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::RESOURCES_READ, methods::RESOURCES_LIST, methods::RESOURCES_TEMPLATES_LIST]
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        match method {
            READ => self.read(request),
            LIST => pagination::respond(request, &self.catalog),
            _ => pagination::respond(request, &self.templates),
        }
    }

    fn find(&self, catalog: Catalog, matches: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Resources => find_in(&self.catalog, matches, Found::Resource),
            Catalog::Templates => find_in(&self.templates, matches, Found::Template),
            _ => Found::Absent,
        }
    }

    #[cfg(feature = "alloc")]
    fn entry(&self, catalog: Catalog, index: usize) -> Result<Found<'_>, usize> {
        match catalog {
            Catalog::Resources => entry_in(&self.catalog, index, Found::Resource),
            Catalog::Templates => entry_in(&self.templates, index, Found::Template),
            _ => Err(0),
        }
    }

    fn change_notification(&self) -> Option<(ChangeSet, &'static str)> {
        self.list_changed.then_some((ChangeSet::RESOURCES, methods::RESOURCES_LIST_CHANGED.name))
    }

    fn declares_subscribe(&self) -> bool {
        self.subscribe
    }

    fn contains_uri(&self, uri: Str<'_>) -> Option<bool> {
        let matches = |template: &str| uri_template::find(template, uri.chars(), "").is_some();
        let is_listed = !self.find(Catalog::Resources, &|resource| uri == *resource).is_absent();
        Some(is_listed || !self.find(Catalog::Templates, &matches).is_absent())
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        if self.subscribe && !results.config.has_feature(methods::SUBSCRIPTIONS_LISTEN) {
            return Err(ConfigError::SubscriptionsMissing);
        }
        pagination::check(&self.catalog, results)?;
        pagination::check(&self.templates, results)
    }
}

impl Resources<'_> {
    fn read(&self, request: &mut Request<'_, '_>) -> Received {
        let subject = request.param_span("uri");
        let Some(uri) = request.view(subject).string() else {
            return request.invalid_params("`uri` must be the URI of a resource");
        };
        let in_other_feature = || JOINS && may_exist(request.state.config, uri);
        if self.contains_uri(uri) == Some(false) && !in_other_feature() {
            return not_found(request, uri);
        }
        request.set_parts(subject, Span::MISSING);
        request.emit_request(RequestKind::ReadResource, ReadResource::event)
    }
}

/// Returns whether a feature declares `resources.subscribe`.
pub(crate) fn declares_subscribe(config: &ServerConfig<'_>) -> bool {
    config.features.iter().any(|feature| feature.declares_subscribe())
}

/// Returns whether a resource with this URI may exist, in any feature. Returns `false` only if no feature may have the
/// resource, and at least one feature can decide.
pub(crate) fn may_exist(config: &ServerConfig<'_>, uri: Str<'_>) -> bool {
    let mut answers = config.features.iter().filter_map(|feature| feature.contains_uri(uri));
    answers.next().is_none_or(|first| first || answers.any(|known| known))
}

/// Refuses a request for an unknown resource.
pub(crate) fn not_found(request: &mut Request<'_, '_>, uri: Str<'_>) -> Received {
    let code = unknown_resource_code(request.pending.context.revision());
    let error = ProtocolError::UnknownResource { code };
    request.refuse_with(error, code, &mut |out: &mut Writer<'_>| {
        write_not_found(out, error, &mut |out: &mut Writer<'_>| out.text(uri))
    })
}

/// Returns the error code for an unknown resource in this revision.
pub(crate) fn unknown_resource_code(revision: Revision) -> i32 {
    if revision.has(WireFeature::ResourceNotFoundCode) {
        crate::rpc::code::RESOURCE_NOT_FOUND
    } else {
        crate::rpc::code::INVALID_PARAMS
    }
}

/// Writes the message and data of the error for an unknown resource. Omits `data` if the URI does not fit.
pub(crate) fn write_not_found(out: &mut Writer<'_>, error: ProtocolError, uri: &mut dyn WriteBody) {
    crate::server::write_message::write_error(out, error, None);
    let before = out.mark();
    out.begin_object_at("data");
    out.key("uri");
    uri.write(out);
    out.end_object();
    // The closing brackets of the message must still fit.
    if out.remaining() < 4 {
        out.rollback(before);
    }
}
