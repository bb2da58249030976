//! Macros for the common parts of request events: constructor, properties, progress, log, defer, error.

/// The constructor of a request event. The event has only the field `parts`.
macro_rules! request_event {
    ($request:ident, $event:ident) => {
        impl $request<'_> {
            pub(crate) fn event<'e>(
                input: &'e mut $crate::framing::LineDecoder<'_>,
                state: &'e mut $crate::server::tasks::access::TaskAccess<'_>,
                context: $crate::server::request_context::Context,
            ) -> Option<$crate::server::event::Event<'e>> {
                let parts = $crate::server::event::RequestParts::new(input, state, context);
                Some($crate::server::event::Event::$event($request { parts }))
            }
        }
    };
}

/// The properties of a request event. The event needs a field `parts`.
macro_rules! request_properties {
    ($request:ident) => {
        impl<'a> $request<'a> {
            /// Returns the id of the request, as JSON: a string or a number.
            #[must_use]
            pub fn id(&self) -> $crate::json::Json<'a> {
                self.parts.reply.id()
            }

            /// Returns the `_meta` of the request, as an object. If the request has no `_meta`, the object is empty.
            /// `_meta` may contain a trace context: `traceparent`, `tracestate`, `baggage`.
            #[must_use]
            pub fn meta(&self) -> $crate::json::Json<'a> {
                self.parts.reply.meta()
            }

            /// Returns the revision of the request.
            #[must_use]
            pub fn revision(&self) -> $crate::Revision {
                self.parts.reply.revision()
            }

            /// Returns the capabilities that the client declared.
            #[must_use]
            pub fn client(&self) -> $crate::ClientCapabilities {
                self.parts.reply.client()
            }

            /// Returns the stream of the request in message mode. Returns
            /// [`StreamId::NONE`](crate::StreamId::NONE) outside of message mode.
            #[must_use]
            pub fn stream(&self) -> $crate::StreamId {
                self.parts.reply.stream()
            }

            /// Returns the user of the request: see [`Server::set_user`](crate::Server::set_user). Returns `None` if
            /// the transport has no users, or if the request has none.
            #[cfg(feature = "alloc")]
            #[must_use]
            pub fn user(&self) -> Option<u64> {
                self.parts.reply.user()
            }
        }
    };
}

/// Common methods of request events. The event needs a field `parts`.
macro_rules! request_methods {
    ($request:ident) => {
        $crate::server::request_methods::request_properties!($request);

        impl<'a> $request<'a> {
            /// Returns the declared capabilities as JSON, with `experimental` and `extensions`.
            ///
            /// Before `2026-07-28`, the object is empty, and
            /// [`Connected::capabilities`](crate::server::Connected::capabilities) has the declared capabilities.
            #[must_use]
            pub fn client_capabilities(&self) -> $crate::json::Json<'a> {
                let declared = self.meta().get($crate::protocol::meta::CLIENT_CAPABILITIES);
                declared.unwrap_or($crate::json::Json::EMPTY_OBJECT)
            }

            /// Returns the settings of an extension that the client declared (`2026-07-28`), such as
            /// `com.example/drawings`. Returns `None` if the client did not declare the extension.
            #[must_use]
            pub fn extension(&self, name: &str) -> Option<$crate::json::Json<'a>> {
                $crate::server::features::extension_request::extension_in(self.meta(), name)
            }

            /// Responds with a JSON-RPC error. Choose application codes outside of -32768 to -32000.
            pub fn error(self, code: i32, message: impl $crate::json::WriteText) {
                self.parts.reply.error(code, message);
            }

            /// Responds with a JSON-RPC error. `data` must write exactly one value, the member `data`.
            pub fn error_with(
                self,
                code: i32,
                message: impl $crate::json::WriteText,
                data: impl FnOnce(&mut $crate::json::Writer<'_>),
            ) {
                self.parts.reply.error_with(code, message, data);
            }

            /// Responds that the server is busy (-32603): see [`Reply::busy`](crate::server::Reply::busy).
            pub fn busy(self) {
                self.parts.reply.busy();
            }

            /// Sends progress before the response: see [`Reply::progress`](crate::server::Reply::progress).
            ///
            /// # Errors
            /// The errors of [`Reply::progress`](crate::server::Reply::progress). The request stays open.
            pub fn progress(
                &mut self,
                progress: impl Into<$crate::Decimal>,
                total: Option<$crate::Decimal>,
                message: &str,
            ) -> Result<(), $crate::SendError> {
                self.parts.reply.progress(progress, total, message)
            }

            /// Sends a log message that relates to this request: see [`Reply::log`](crate::server::Reply::log).
            ///
            /// # Errors
            /// The errors of [`Reply::log`](crate::server::Reply::log). The request stays open.
            pub fn log(
                &mut self,
                level: $crate::Level,
                logger: Option<&str>,
                text: impl $crate::json::WriteText,
            ) -> Result<(), $crate::SendError> {
                self.parts.reply.log(level, logger, text)
            }

            /// Sends a log message with a JSON value that `data` writes. See
            /// [`Reply::log_with`](crate::server::Reply::log_with).
            ///
            /// # Errors
            /// The errors of [`log`](Self::log). The method also returns an error if `data` does not write exactly one
            /// value.
            pub fn log_with(
                &mut self,
                level: $crate::Level,
                logger: Option<&str>,
                data: impl FnOnce(&mut $crate::json::Writer<'_>),
            ) -> Result<(), $crate::SendError> {
                self.parts.reply.log_with(level, logger, data)
            }

            /// Reports a change: see [`Server::changed`](crate::Server::changed).
            pub fn changed(&mut self, change: $crate::server::Change<'_>) {
                self.parts.reply.changed(change);
            }

            /// Advances the time of the server to `now`, from the clock that the caller uses for
            /// [`Server::poll`](crate::Server::poll). An earlier time has no effect.
            ///
            /// Call this method before [`defer`](Self::defer) or [`Call::into_task`](crate::server::Call::into_task) if
            /// the application has worked for long since the last poll.
            pub fn advance_time(&mut self, now: $crate::Millis) {
                self.parts.reply.advance_time(now);
            }

            /// Defers the response: pass the ticket to [`Server::reply`](crate::Server::reply) later.
            ///
            /// The timeout starts at the time of the last poll, or of [`advance_time`](Self::advance_time). When the timeout
            /// expires, the server responds with an error and emits
            /// [`Event::Expired`](crate::server::Event::Expired). Progress does not extend the timeout `time`. If
            /// `time` is `None`, [`deferred_timeout`](crate::server::Limits::deferred_timeout) applies: by default one
            /// minute for lent slots, and no timeout for slots on the heap. With the feature `alloc`, progress restarts
            /// this timeout.
            ///
            /// # Errors
            /// Returns the request if no slot is free, if the id does not fit into the text of a slot, or if the
            /// request is a batch member while another batch is open. Respond to the returned request now, for example
            /// with [`busy`](Self::busy).
            #[allow(clippy::result_large_err, reason = "boxing needs a heap, and some requests are small")]
            pub fn defer(mut self, time: Option<$crate::Millis>) -> Result<$crate::Ticket, $request<'a>> {
                match self.parts.reply.defer(time) {
                    Some(ticket) => Ok(ticket),
                    None => Err(self),
                }
            }
        }
    };
}

/// Methods of a request event that may require input. The event needs a field `parts`.
macro_rules! input_methods {
    ($request:ident) => {
        impl<'a> $request<'a> {
            /// Returns the client's response to the input that the server [required](Self::require_input) under
            /// `key`. Returns `None` if the client sent no such response.
            ///
            /// Read the response with [`ElicitResultView::from_json`](crate::input::ElicitResultView::from_json) or a
            /// similar function. The response is untrusted input, like the whole request.
            #[must_use]
            pub fn input(&self, key: &str) -> Option<$crate::json::Json<'a>> {
                self.parts.input_responses.responses.get(key)
            }

            /// Returns the state that the client sent with the retried request. Returns `None` if the client sent no
            /// state.
            ///
            /// A client may send any value. If security depends on the state, sign it and check the signature.
            #[must_use]
            pub fn request_state(&self) -> Option<$crate::json::Str<'a>> {
                self.parts.input_responses.state.string()
            }

            /// Returns whether the response may [require input](Self::require_input): see
            /// [`Reply::can_require_input`](crate::server::Reply::can_require_input).
            #[must_use]
            pub fn can_require_input(&self) -> bool {
                self.parts.reply.can_require_input()
            }

            /// Responds that the request requires input. The client retries the request with the input: see
            /// [`Reply::require_input`](crate::server::Reply::require_input).
            pub fn require_input(self, inputs: &[(&str, &dyn $crate::input::Input)], state: Option<&str>) {
                self.parts.reply.require_input(inputs, state);
            }

            /// Responds that the user must open web pages first: see
            /// [`Reply::require_urls`](crate::server::Reply::require_urls).
            pub fn require_urls(self, pages: &[$crate::input::OpenUrl<'_>]) {
                self.parts.reply.require_urls(pages);
            }

            /// Responds that the client lacks a required capability: see
            /// [`Reply::require_capability`](crate::server::Reply::require_capability).
            pub fn require_capability(self, missing: $crate::ClientCapabilities) {
                self.parts.reply.require_capability(missing);
            }
        }
    };
}

pub(crate) use {input_methods, request_event, request_methods, request_properties};
