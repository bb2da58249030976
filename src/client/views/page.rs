//! Pages of lists, and how long a result is fresh.

use crate::client::views::{Prompt, Resource, ResourceTemplate, Tool, entries, object};
use crate::json::Json;
use crate::peer::slots::Ticket;
use crate::time::Millis;

/// How long a result may be kept, and by whom. Servers up to `2025-11-25` do not say: then it is not fresh at all.
///
/// A notification that the thing has changed ends it at once.
///
/// Specification: 2026-07-28, *Caching*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// For how long after it came, in milliseconds.
    pub fresh_for: Millis,
    /// Whether it is the same for everybody. If not, it must not be shown to other users.
    pub shared: bool,
}

impl Freshness {
    /// What a result says about itself.
    #[must_use]
    pub fn from_json(result: Json<'_>) -> Freshness {
        let [time, scope] = result.pick(["ttlMs", "cacheScope"]);
        Freshness {
            fresh_for: Millis(time.map_or(0, milliseconds)),
            shared: scope.and_then(Json::string).is_some_and(|scope| scope == "public"),
        }
    }

    /// Whether what came at `since` is still fresh at `now`.
    #[must_use]
    pub fn is_fresh(&self, since: Millis, now: Millis) -> bool {
        now < since.plus(self.fresh_for)
    }
}

/// A time that is negative or no integer is none; one past what fits is forever.
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
            /// Which request.
            #[must_use]
            pub fn ticket(&self) -> Ticket {
                self.ticket
            }

            /// Whether this is the end of the list. If not, the next page is asked for by itself; should that not go on,
            /// [`Event::Response`](crate::client::Event::Response) says why.
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

            /// How long the page may be kept.
            #[must_use]
            pub fn freshness(&self) -> Freshness {
                Freshness::from_json(self.result)
            }

            /// What else is said about it: `_meta`, an object.
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
    ToolsPage of Tool from "tools",
    /// The tools of the page, in the server's order.
    tools,
    /// The tool of this name, if it is on the page; of several, the first.
    ///
    /// ```
    /// use mcp_proto::client::{Client, Event};
    ///
    /// /// Lists until the tool is found, and no further. Returns the schema of its arguments.
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
    ResourcesPage of Resource from "resources",
    /// The resources of the page, in the server's order.
    resources,
    /// The resource with this URI, if it is on the page; of several, the first.
    find by uri
}

page! {
    /// A page of the list of resource templates.
    ///
    /// Specification: *Resources*, *Resource templates*; *Pagination*.
    TemplatesPage of ResourceTemplate from "resourceTemplates",
    /// The templates of the page, in the server's order.
    templates,
    /// The template of this name, if it is on the page; of several, the first.
    find by name
}

page! {
    /// A page of the list of prompts.
    ///
    /// Specification: *Prompts*, *Listing prompts*; *Pagination*.
    PromptsPage of Prompt from "prompts",
    /// The prompts of the page, in the server's order.
    prompts,
    /// The prompt of this name, if it is on the page; of several, the first.
    find by name
}
