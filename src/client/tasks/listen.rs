//! Subscriptions that the client itself opens to follow its tasks (`2026-07-28`).
//!
//! A subscription takes a slot, whose text is the id of the task as JSON. The client emits no event for such a
//! subscription.

use crate::client::client_state::ClientState;
use crate::client::method_properties::Method;
use crate::client::options::Options;
use crate::client::subscriptions::{LISTEN, granted_tasks};
use crate::client::tasks::record::Record;
use crate::json::{Json, Writer};
use crate::peer::request::OutboundState;
use crate::peer::slots::Ticket;
use crate::protocol::revision::WireFeature;
use crate::time::Millis;

impl ClientState<'_> {
    /// Subscribes to a task, if `TaskLimits::listens` is set and the revision has subscriptions. If the subscription
    /// fails, for example because no slot or no transmit space is free, the client only polls.
    pub(super) fn watch_task(&mut self, id: Json<'_>) {
        let is_wanted = self.config.tasks.is_some_and(|tasks| tasks.limits.listens);
        let fits = id.bytes().len() <= self.peer.in_flight.text_limit();
        if !is_wanted || !fits || !self.has(WireFeature::Subscriptions) {
            return;
        }
        let options = Options::DEFAULT.maximum(Millis::MAX);
        let begun =
            self.begin_request_as(Method::TaskListen, LISTEN, options, &mut |out: &mut Writer<'_>| {
                out.begin_object_at("notifications");
                out.begin_array_at("taskIds");
                out.json(id);
                out.end_array();
                out.end_object();
            });
        if let Ok(listener) = begun {
            self.peer.in_flight.set_text_after(listener, 0, id.bytes());
        }
    }

    /// Handles the acknowledgment of a subscription. `params` contains the filter that the server grants. If the
    /// filter lacks the task, the client ends the subscription.
    pub(super) fn handle_watched(&mut self, listener: Ticket, params: Json<'_>) {
        let id = Json::trusted(self.peer.in_flight.text(listener)).string();
        let is_granted = id.is_some_and(|id| granted_tasks(params).any(|granted| granted == id));
        if !is_granted {
            return self.abandon(listener, "");
        }
        // Poll the task, because it may have changed before the subscription began.
        self.poll_watched(listener);
    }

    /// Handles the end of the client's subscription to a task.
    pub(super) fn handle_unwatched(&mut self, listener: Ticket) {
        // Poll the task now, because it may change without a notification, and its next poll may be far in the future.
        if self.open_request(listener).is_some_and(|it| it.state == OutboundState::Listening) {
            self.poll_watched(listener);
        }
    }

    /// Polls the task of a subscription at once, if the client waits for the next poll of the task.
    fn poll_watched(&mut self, listener: Ticket) {
        let id = Json::trusted(self.peer.in_flight.text(listener)).string();
        if let Some(task) = id.and_then(|id| self.find_task(|_, record| record.has_id(id)))
            && self.open_request(task).is_some_and(|it| it.state == OutboundState::TaskWaiting)
        {
            self.poll_task(task);
        }
    }

    /// Ends the client's subscription to a task, if there is one.
    pub(super) fn unwatch_task(&mut self, task: Ticket) {
        if let Some(listener) = self.listener_of(task) {
            self.abandon(listener, "");
        }
    }

    /// Returns the time until the next poll of a task. With an acknowledged subscription, this time is at least
    /// `TaskLimits::longest_interval`.
    pub(super) fn poll_interval(&self, task: Ticket) -> Millis {
        let interval = self.task(task).map_or(Millis::ZERO, |record| record.interval());
        let listener = self.listener_of(task).and_then(|listener| self.open_request(listener));
        match (listener, self.config.tasks) {
            (Some(listener), Some(tasks)) if listener.state == OutboundState::Listening => {
                tasks.limits.longest_interval.max(interval)
            }
            _ => interval,
        }
    }

    fn listener_of(&self, task: Ticket) -> Option<Ticket> {
        let in_flight = &self.peer.in_flight;
        let record = Record::parse(in_flight.text(task))?;
        let mut requests = in_flight.requests().map(|(ticket, _)| ticket);
        requests.find(|ticket| self.is_listener(*ticket) && in_flight.text(*ticket) == record.id)
    }

    fn is_listener(&self, ticket: Ticket) -> bool {
        self.open_request(ticket).is_some_and(|it| it.data.method == Method::TaskListen)
    }
}
