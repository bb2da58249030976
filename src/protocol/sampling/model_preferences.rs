//! Preferences for a model: written by a server, viewed by a client.
//!
//! Specification: *Sampling*, *Model preferences*.

use crate::json::{Decimal, Str, Writer};
use crate::protocol::objects::optional_members::{write_array_member, write_priority_member};
use crate::protocol::objects::view::{list, number, text, view};

/// Preferences for the choice of a model. The client makes the choice. The server clamps priorities outside the range
/// from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub struct ModelPreferences<'a> {
    hints: &'a [&'a str],
    cost: Option<Decimal>,
    speed: Option<Decimal>,
    intelligence: Option<Decimal>,
}

impl<'a> ModelPreferences<'a> {
    /// Creates preferences with hints, in order of preference. A hint is the name of a model or family, or a substring
    /// such as `sonnet`.
    #[must_use]
    pub const fn new(hints: &'a [&'a str]) -> ModelPreferences<'a> {
        ModelPreferences { hints, cost: None, speed: None, intelligence: None }
    }

    /// Sets the priority of a low cost, from 0 to 1.
    #[must_use]
    pub const fn cost(mut self, priority: Decimal) -> Self {
        self.cost = Some(priority);
        self
    }

    /// Sets the priority of speed, from 0 to 1.
    #[must_use]
    pub const fn speed(mut self, priority: Decimal) -> Self {
        self.speed = Some(priority);
        self
    }

    /// Sets the priority of intelligence, from 0 to 1.
    #[must_use]
    pub const fn intelligence(mut self, priority: Decimal) -> Self {
        self.intelligence = Some(priority);
        self
    }

    // Not inlined, so that the stack frame of this function does not exist while the server writes the messages.
    #[inline(never)]
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.begin_object_at("modelPreferences");
        write_array_member("hints", self.hints, out, |hint, out| {
            out.begin_object();
            out.field_string("name", hint);
            out.end_object();
        });
        write_priority_member("costPriority", self.cost, out);
        write_priority_member("speedPriority", self.speed, out);
        write_priority_member("intelligencePriority", self.intelligence, out);
        out.end_object();
    }
}

view! {
    /// A server's preferences for the choice of a model.
    ///
    /// The specification limits priorities to the range from 0 to 1, but the getters return any number.
    ModelPreferencesView
}

impl<'a> ModelPreferencesView<'a> {
    /// Returns the substrings of model names, in order of preference.
    pub fn hints(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "hints").filter_map(|hint| text(hint, "name"))
    }

    /// Returns the priority of a low cost.
    #[must_use]
    pub fn cost(&self) -> Option<Decimal> {
        number(self.json, "costPriority")
    }

    /// Returns the priority of speed.
    #[must_use]
    pub fn speed(&self) -> Option<Decimal> {
        number(self.json, "speedPriority")
    }

    /// Returns the priority of intelligence.
    #[must_use]
    pub fn intelligence(&self) -> Option<Decimal> {
        number(self.json, "intelligencePriority")
    }
}
