//! Pages of lists, as events.

use crate::json::Json;
use crate::peer::slots::Ticket;
use crate::protocol::objects::cache_hints::Freshness;
use crate::protocol::objects::prompt::PromptView;
use crate::protocol::objects::resource::{ResourceTemplateView, ResourceView};
use crate::protocol::objects::skill_view::SkillView;
use crate::protocol::objects::tool::ToolView;
use crate::protocol::objects::view::{entries, object};

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
            /// Returns the ticket of the request.
            #[must_use]
            pub fn ticket(&self) -> Ticket {
                self.ticket
            }

            /// Returns whether this is the last page. After any other page, the client requests the next page by
            /// itself. If the list then fails, [`Event::Response`](crate::client::Event::Response) reports the
            /// reason.
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

            /// Returns the cache hints of the page: lifetime and scope.
            #[must_use]
            pub fn freshness(&self) -> Freshness {
                Freshness::from_json(self.result)
            }

            /// Returns the `_meta` object, if the server sent one.
            #[must_use]
            pub fn meta(&self) -> Option<Json<'a>> {
                object(self.result, "_meta")
            }

            /// Returns the whole result, exactly as the server wrote it.
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
    /// Returns the tools of the page, in the server's order.
    tools,
    /// Finds the first tool of this name on the page.
    ///
    /// ```
    /// use mcp_proto::client::{Client, Event};
    ///
    /// /// If the page contains the tool, returns the tool's schema, and cancels the list if pages remain.
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
    /// Returns the resources of the page, in the server's order.
    resources,
    /// Finds the first resource with this URI on the page.
    find by uri
}

page! {
    /// A page of the list of resource templates.
    ///
    /// Specification: *Resources*, *Resource templates*; *Pagination*.
    TemplatesPage of ResourceTemplateView from "resourceTemplates",
    /// Returns the templates of the page, in the server's order.
    templates,
    /// Finds the first template of this name on the page.
    find by name
}

page! {
    /// A page of the list of prompts.
    ///
    /// Specification: *Prompts*, *Listing prompts*; *Pagination*.
    PromptsPage of PromptView from "prompts",
    /// Returns the prompts of the page, in the server's order.
    prompts,
    /// Finds the first prompt of this name on the page.
    find by name
}

page! {
    /// A page of the list of skills.
    ///
    /// The list may be incomplete: [`Client::get_skill`](crate::Client::get_skill) also returns skills that are not
    /// listed.
    ///
    /// Specification: the extension *Skills*, *Listing skills*; *Pagination*.
    SkillsPage of SkillView from "skills",
    /// Returns the skills of the page, in the server's order.
    skills,
    /// Finds the first skill with this URI on the page.
    find by uri
}
