//! What a host can do with every request that it is handed.

/// The methods of a request in a field `reply`.
macro_rules! request {
    ($request:ident) => {
        impl<'a> $request<'a> {
            /// The request's `_meta`, an object; empty if it has none. Traces are there: `traceparent`, `tracestate`,
            /// `baggage`.
            #[must_use]
            pub fn meta(&self) -> $crate::json::Json<'a> {
                self.reply.meta()
            }

            /// The revision in which the request was made.
            #[must_use]
            pub fn revision(&self) -> $crate::Revision {
                self.reply.revision()
            }

            /// What the client said it can do.
            #[must_use]
            pub fn client(&self) -> $crate::ClientCapabilities {
                self.reply.client()
            }

            /// The stream that the request came from, in frame mode.
            #[must_use]
            pub fn stream(&self) -> $crate::StreamId {
                self.reply.stream()
            }

            /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
            pub fn error(self, code: i32, message: impl $crate::json::WriteText) {
                self.reply.error(code, message);
            }

            /// Answers with a JSON-RPC error with `data`: a value that `data` writes.
            pub fn error_with(
                self,
                code: i32,
                message: impl $crate::json::WriteText,
                data: impl FnOnce(&mut $crate::json::Writer<'_>),
            ) {
                self.reply.error_with(code, message, data);
            }

            /// Says that too much is going on (-32603), naming how many requests can be in flight.
            pub fn busy(self) {
                self.reply.busy();
            }

            /// Reports progress now, before the answer: see [`Reply::progress`](crate::server::Reply::progress).
            ///
            /// # Errors
            /// It was not asked for, has not grown, or does not fit beside the answer. The request goes on.
            pub fn progress(
                &mut self,
                progress: impl Into<$crate::Decimal>,
                total: Option<$crate::Decimal>,
                message: &str,
            ) -> Result<(), $crate::SendError> {
                self.reply.progress(progress, total, message)
            }

            /// Sends a log message that belongs to this request: see [`Reply::log`](crate::server::Reply::log).
            ///
            /// # Errors
            /// It is not wanted, or does not fit beside the answer. The request goes on.
            pub fn log(
                &mut self,
                level: $crate::Level,
                logger: Option<&str>,
                text: impl $crate::json::WriteText,
            ) -> Result<(), $crate::SendError> {
                self.reply.log(level, logger, text)
            }

            /// The same with any JSON value, the one that `data` writes: see
            /// [`Reply::log_with`](crate::server::Reply::log_with).
            ///
            /// # Errors
            /// As for [`log`](Self::log); or it is no such value.
            pub fn log_with(
                &mut self,
                level: $crate::Level,
                logger: Option<&str>,
                data: impl FnOnce(&mut $crate::json::Writer<'_>),
            ) -> Result<(), $crate::SendError> {
                self.reply.log_with(level, logger, data)
            }

            /// Says that something has changed, as [`Server::changed`](crate::Server::changed) does.
            pub fn changed(&mut self, change: $crate::server::Change<'_>) {
                self.reply.changed(change);
            }

            /// Leaves the answer for later: [`Server::reply`](crate::Server::reply) gives it for the ticket. If that
            /// does not happen within `time` (the server's limit, if none is given), the machine answers with an error
            /// and says so.
            ///
            /// # Errors
            /// The request comes back if no slot is free, to be answered now, for example with [`busy`](Self::busy).
            #[allow(clippy::result_large_err, reason = "there is no heap to box it on, and some are small")]
            pub fn defer(mut self, time: Option<$crate::Millis>) -> Result<$crate::Ticket, $request<'a>> {
                match self.reply.defer(time) {
                    Some(ticket) => Ok(ticket),
                    None => Err(self),
                }
            }
        }
    };
}

/// The methods of a request that may take several rounds, with fields `reply` and `returned`.
macro_rules! rounds {
    ($request:ident) => {
        impl<'a> $request<'a> {
            /// What the client has answered to what this request [needed](Self::require_input) before, by its key: read it
            /// with [`ElicitResult::from_json`](crate::input::ElicitResult::from_json) and the like. The client's word, as all of a
            /// request.
            #[must_use]
            pub fn input(&self, key: &str) -> Option<$crate::json::Json<'a>> {
                self.returned.input(key)
            }

            /// The state that went with what this request needed before, as the client sent it back. A client may send
            /// anything: where something depends on it, sign it, and check the signature.
            #[must_use]
            pub fn request_state(&self) -> Option<$crate::json::Str<'a>> {
                self.returned.request_state()
            }

            /// What the client declared, as it wrote it: with `experimental`, and `extensions`. Empty before
            /// `2026-07-28`, where [`Connected::capabilities`](crate::server::Connected::capabilities) has it.
            #[must_use]
            pub fn client_capabilities(&self) -> $crate::json::Json<'a> {
                let declared = self.meta().get($crate::protocol::meta::CLIENT_CAPABILITIES);
                declared.unwrap_or($crate::json::Json::EMPTY_OBJECT)
            }

            /// Whether the request may be answered with what it [needs](Self::require_input): in `2026-07-28`.
            #[must_use]
            pub fn can_require_input(&self) -> bool {
                self.reply.can_require_input()
            }

            /// Answers with what is needed first; the client makes the request again, with the answers: see
            /// [`Reply::require_input`](crate::server::Reply::require_input).
            pub fn require_input(self, inputs: &[(&str, &dyn $crate::input::Input)], state: Option<&str>) {
                self.reply.require_input(inputs, state);
            }

            /// Answers that the user has to open web pages first: see
            /// [`Reply::require_urls`](crate::server::Reply::require_urls).
            pub fn require_urls(self, pages: &[$crate::input::OpenUrl<'_>]) {
                self.reply.require_urls(pages);
            }

            /// Answers that the client lacks something that the request needs: see
            /// [`Reply::require_capability`](crate::server::Reply::require_capability).
            pub fn require_capability(self, missing: $crate::ClientCapabilities) {
                self.reply.require_capability(missing);
            }
        }
    };
}

pub(crate) use {request, rounds};
