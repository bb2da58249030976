//! Views of list pages, and cache freshness.

use crate::client::views::{PromptView, ResourceTemplateView, ResourceView, ToolView, entries, object};
use crate::json::Json;
use crate::peer::slots::Ticket;
use crate::time::Millis;

/// The lifetime and scope of a cached result. Servers up to `2025-11-25` do not report it, so their results are not
/// fresh.
///
/// A change notification ends the freshness at once.
///
/// Specification: 2026-07-28, *Caching*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// The lifetime after the result was received, in milliseconds.
    pub fresh_for: Millis,
    /// Whether the result is the same for all users. If `false`, do not show it to other users.
    pub shared: bool,
}

impl Freshness {
    /// Reads the freshness of a result.
    #[must_use]
    pub fn from_json(result: Json<'_>) -> Freshness {
        let [time, scope] = result.pick(["ttlMs", "cacheScope"]);
        Freshness {
            fresh_for: Millis(time.map_or(0, milliseconds)),
            shared: scope.and_then(Json::string).is_some_and(|scope| scope == "public"),
        }
    }

    /// Whether a result received at `since` is still fresh at `now`.
    #[must_use]
    pub fn is_fresh(&self, since: Millis, now: Millis) -> bool {
        now < since.plus(self.fresh_for)
    }
}

/// Converts a duration: negative or non-integer values are zero, and values past the range saturate.
fn milliseconds(json: Json<'_>) -> u64 {
    let beyond = json.is_integer_text() && !json.bytes().starts_with(b"-");
    json.unsigned().unwrap_or(if beyond { u64::MAX } else { 0 })
}

macro_rules! page {
    (
        $(#[$docs:meta])*
        $name:ident of $entry:ident from $member:literal,
        $(#[$entries_docs:meta])* $entries:ident,
        $(#[$find_docs:meta])* find by $key:ident
    ) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a> {
            pub(crate) ticket: Ticket,
            pub(crate) result: Json<'a>,
            pub(crate) last: bool,
        }

        impl<'a> $name<'a> {
            /// The ticket of the request.
            #[must_use]
            pub fn ticket(&self) -> Ticket {
                self.ticket
            }

            /// Whether this is the last page. If not, the client requests the next page by itself. If that fails,
            /// [`Event::Response`](crate::client::Event::Response) reports the reason.
            #[must_use]
            pub fn is_last(&self) -> bool {
                self.last
            }

            $(#[$entries_docs])*
            pub fn $entries(&self) -> impl Iterator<Item = $entry<'a>> + use<'a> {
                entries(self.result, $member).map($entry::from_json)
            }

            $(#[$find_docs])*
            #[must_use]
            pub fn find(&self, $key: &str) -> Option<$entry<'a>> {
                self.$entries().find(|entry| entry.$key().is_some_and(|own| own == $key))
            }

            /// How long the application may cache the page.
            #[must_use]
            pub fn freshness(&self) -> Freshness {
                Freshness::from_json(self.result)
            }

            /// The `_meta` object.
            #[must_use]
            pub fn meta(&self) -> Option<Json<'a>> {
                object(self.result, "_meta")
            }

            /// The whole result, as the server wrote it.
            #[must_use]
            pub fn raw(&self) -> Json<'a> {
                self.result
            }
        }
    };
}

page! {
    /// A page of the list of tools.
    ///
    /// Specification: *Tools*, *Listing tools*; *Pagination*.
    ToolsPage of ToolView from "tools",
    /// The tools of the page, in the server's order.
    tools,
    /// Finds the first tool of this name on the page.
    ///
    /// ```
    /// use mcp_proto::client::{Client, Event};
    ///
    /// /// Lists tools until one has this name. Returns the schema of its arguments.
    /// fn found(client: &mut Client<'_>, name: &str) -> Option<String> {
    ///     let Some(Event::Tools(page)) = client.event() else { return None };
    ///     let schema = page.find(name)?.input_schema().to_string();
    ///     let (ticket, last) = (page.ticket(), page.is_last());
    ///     if !last {
    ///         let _ = client.cancel(ticket, "found");
    ///     }
    ///     Some(schema)
    /// }
    /// ```
    find by name
}

page! {
    /// A page of the list of resources.
    ///
    /// Specification: *Resources*, *Listing resources*; *Pagination*.
    ResourcesPage of ResourceView from "resources",
    /// The resources of the page, in the server's order.
    resources,
    /// Finds the first resource with this URI on the page.
    find by uri
}

page! {
    /// A page of the list of resource templates.
    ///
    /// Specification: *Resources*, *Resource templates*; *Pagination*.
    TemplatesPage of ResourceTemplateView from "resourceTemplates",
    /// The templates of the page, in the server's order.
    templates,
    /// Finds the first template of this name on the page.
    find by name
}

page! {
    /// A page of the list of prompts.
    ///
    /// Specification: *Prompts*, *Listing prompts*; *Pagination*.
    PromptsPage of PromptView from "prompts",
    /// The prompts of the page, in the server's order.
    prompts,
    /// Finds the first prompt of this name on the page.
    find by name
}
