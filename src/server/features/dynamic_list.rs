//! Events for pages of dynamic lists: `ListTools`, `ListResources`, `ListTemplates`, `ListPrompts`.
//!
//! Specification: *Utilities*, *Pagination*, and the page of each feature.
#![allow(clippy::as_conversions, reason = "`usize` has at least 32 bits on all supported targets")]

use crate::error::ProtocolError;
use crate::json::Writer;
use crate::protocol::objects::application_json::not_an_object;
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::objects::prompt::Prompt;
use crate::protocol::objects::resource::{Resource, ResourceTemplate};
use crate::protocol::objects::tool::Tool;
use crate::protocol::pagination::{has_tail_space, write, write_cursor};
use crate::server::event::RequestParts;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::request_methods::{request_event, request_methods};
use crate::server::server_state::{ServerState, Shape};

impl Reply<'_> {
    /// Responds with one page of as many entries as fit. Refuses a cursor past the last entry. `entry` writes the entry
    /// at an index, and returns whether the entry is valid, or `None` after the last entry.
    fn list(self, key: &str, entry: &mut dyn FnMut(usize, &mut Writer<'_>) -> Option<bool>) {
        let RequestKind::List { first } = self.pending.context.kind else {
            return self.respond(Shape::List, &mut |_: &mut Writer<'_>| false);
        };
        let first = u32::from_le_bytes(first) as usize;
        if first > 0 && entry(first, &mut Writer::measure()).is_none() {
            return self.refuse_and_report(ProtocolError::BadCursor);
        }
        let Reply { state, pending, .. } = self;
        state.with(&mut |state: &mut ServerState<'_>| {
            let (mut omitted, mut is_empty) = (0, true);
            state.respond_and_close(&pending, Shape::List, &mut |out: &mut Writer<'_>| {
                let mut listed = |index, out: &mut Writer<'_>| {
                    let is_valid = entry(index, out)?;
                    // Omit an entry that is too large for any page, except in a batch: the batch reserves space for
                    // its other members, so the entry may fit into a page outside of a batch.
                    let is_too_large = is_empty && !has_tail_space(out) && !pending.context.is_batched();
                    let is_listed = is_valid && !is_too_large;
                    is_empty &= !is_listed;
                    Some(is_listed)
                };
                omitted = write(out, key, first, &mut listed).omitted;
            });
            if omitted > 0 {
                let error = ProtocolError::EntriesOmitted { count: omitted };
                state.peer.pending_error.get_or_insert(error);
            }
        });
    }

    /// Responds with a page that the application has chosen. `entry` writes the next entry, and returns whether the
    /// entry is valid, or `None` after the last entry.
    fn list_page(self, key: &str, next: Option<u32>, entry: &mut dyn FnMut(&mut Writer<'_>) -> Option<bool>) {
        let is_list = matches!(self.pending.context.kind, RequestKind::List { .. });
        self.result(is_list, Shape::List, &mut |out: &mut Writer<'_>| {
            let mut all_valid = true;
            out.begin_array_at(key);
            while let Some(valid) = entry(out) {
                all_valid &= valid;
            }
            out.end_array();
            write_cursor(out, next);
            all_valid
        });
    }

    /// Returns the position of the requested page of a list.
    fn position(&self) -> u32 {
        match self.pending.context.kind {
            RequestKind::List { first } => u32::from_le_bytes(first),
            _ => 0,
        }
    }
}

macro_rules! list {
    ($request:ident, $entry:ident, $method:ident, $page:ident, $(#[$about:meta])*) => {
        $(#[$about])*
        #[must_use = "a request needs a response"]
        #[derive(Debug)]
        pub struct $request<'a> {
            pub(crate) parts: RequestParts<'a>,
        }

        impl $request<'_> {
            /// Responds with as many entries as fit into one message. Adds a cursor if entries remain.
            ///
            /// `entry` must return the entry at an index, counted from 0, or `None` after the last entry. The method
            /// may call `entry` several times with one index. The page omits an entry that is too large for any page,
            /// or that has raw JSON that is not an object. If a requested position other than 0 has no entry, the
            /// response is an error (-32602). If the first entry does not fit beside the other responses of a batch,
            /// the response is an error (-32603). In these three cases, the next event reports a [`ProtocolError`].
            pub fn $method<'t>(self, entry: impl FnMut(usize) -> Option<$entry<'t>>) {
                self.parts.reply.$method(entry);
            }

            /// Returns the position of the requested page.
            ///
            /// The first page has position 0. Other positions are indices that the server has put into its cursors, or
            /// numbers that the application has passed to
            #[doc = concat!("[`", stringify!($page), "`](Self::", stringify!($page), "). Clients may send any number.")]
            #[must_use]
            pub fn position(&self) -> u32 {
                self.parts.reply.position()
            }

            /// Responds with a page of entries that the application chooses, such as rows from a database. The cursor
            /// contains `next`, the position of the next page. `None` or 0 means that no page follows.
            ///
            /// If the page is too large for a response, or an entry has raw JSON that is not an object, the response is
            /// an error. The next event is then a [`ProtocolError`].
            pub fn $page<'t>(self, entries: impl IntoIterator<Item = $entry<'t>>, next: Option<u32>) {
                self.parts.reply.$page(entries, next);
            }
        }

        impl Reply<'_> {
            #[doc = concat!("Responds to a deferred [`", stringify!($request), "`]: see")]
            #[doc = concat!("[`", stringify!($request), "::", stringify!($method), "`].")]
            pub fn $method<'t>(self, mut entry: impl FnMut(usize) -> Option<$entry<'t>>) {
                let revision = self.revision();
                self.list($entry::LIST, &mut |index, out| {
                    let entry = entry(index)?;
                    entry.write(revision, out);
                    Some(not_an_object(entry.objects()).is_none())
                });
            }

            #[doc = concat!("Responds to a deferred [`", stringify!($request), "`]: see")]
            #[doc = concat!("[`", stringify!($request), "::", stringify!($page), "`].")]
            pub fn $page<'t>(self, entries: impl IntoIterator<Item = $entry<'t>>, next: Option<u32>) {
                let (revision, mut entries) = (self.revision(), entries.into_iter());
                self.list_page($entry::LIST, next, &mut |out| {
                    let entry = entries.next()?;
                    entry.write(revision, out);
                    Some(not_an_object(entry.objects()).is_none())
                });
            }
        }

        request_event!($request, $request);
        request_methods!($request);
    };
}

list! { ListTools, Tool, tools, tools_page,
    /// A request for one page of the dynamic list of tools.
    ///
    /// Specification: *Tools*, *Listing tools*.
}
list! { ListResources, Resource, resources, resources_page,
    /// A request for one page of the dynamic list of resources.
    ///
    /// Specification: *Resources*, *Listing resources*.
}
list! { ListTemplates, ResourceTemplate, templates, templates_page,
    /// A request for one page of the dynamic list of resource templates.
    ///
    /// Specification: *Resources*, *Resource templates*.
}
list! { ListPrompts, Prompt, prompts, prompts_page,
    /// A request for one page of the dynamic list of prompts.
    ///
    /// Specification: *Prompts*, *Listing prompts*.
}
