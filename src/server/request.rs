//! What a host can do with every request that it is handed.

/// The methods of a request in a field `reply`.
macro_rules! request {
    ($request:ident) => {
        impl<'a> $request<'a> {
            /// The request's `_meta`, an object; empty if it has none.
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
            pub fn error(self, code: i32, message: impl core::fmt::Display) {
                self.reply.error(code, message);
            }

            /// Answers with a JSON-RPC error with `data`: a value that `data` writes.
            pub fn error_with(
                self,
                code: i32,
                message: impl core::fmt::Display,
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
            ) -> Result<(), $crate::NotNow> {
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
                text: impl core::fmt::Display,
            ) -> Result<(), $crate::NotNow> {
                self.reply.log(level, logger, text)
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
            /// The request comes back if no slot is free, to be answered now, for example with `busy`.
            #[allow(clippy::result_large_err, reason = "there is no heap to box it on, and some are small")]
            pub fn defer(self, time: Option<$crate::Millis>) -> Result<$crate::Ticket, $request<'a>> {
                match self.reply.machine.defer(&self.reply.source, self.reply.context, time) {
                    Some(ticket) => Ok(ticket),
                    None => Err(self),
                }
            }
        }
    };
}
pub(crate) use request;
