//! Tools and HTTP policy of the servers in the model-based tests.

use mcp_proto::json::Json;
use mcp_proto::server::{Call, Change, Event, Feature, Logging, RequestOptions, Server, ServerConfig};
use mcp_proto::server::{Subscriptions, Tool, Tools};
use mcp_proto::{ClientCapabilities, Level, Millis, Ticket};
use mcp_proto_http::server::{HttpServer, Policy, RequestHead, Verdict};

const TOKEN: &str = r#"{"type":"object","properties":{"token":{"type":"string","x-mcp-header":"Token"}}}"#;

/// The names of the tools. A call may have the argument `token`. A result text begins with this token. `needs` and
/// `drop` respond with errors.
pub(crate) const NAMES: [&str; 8] = ["echo", "defer", "progress", "large", "ask", "needs", "drop", "marked"];

static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("defer", "{}"),
    Tool::new("progress", "{}"),
    Tool::new("large", "{}"),
    Tool::new("ask", "{}"),
    Tool::new("needs", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("marked", TOKEN),
])
.list_changed();

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &Subscriptions, &Logging];

/// The configuration of the core server ([`Server`]) behind each HTTP server.
pub(crate) static CONFIG: ServerConfig<'static> =
    ServerConfig::new("s", "1").features(&FEATURES).anonymous_results();

/// A policy that derives users from `Authorization`, and random bytes from a counter.
#[derive(Debug, Default)]
pub(crate) struct NumberPolicy {
    counter: u64,
}

impl Policy for NumberPolicy {
    fn authorize(&mut self, head: &RequestHead<'_>) -> Verdict {
        match head.fields.field("authorization") {
            Some(b"nobody") => Verdict::Deny { status: 401, challenge: "Bearer".into() },
            Some(user) => Verdict::Allow { user: user.iter().map(|byte| u64::from(*byte)).sum() },
            None => Verdict::Allow { user: 0 },
        }
    }

    fn random(&mut self) -> [u8; 16] {
        self.counter += 1;
        // The product distributes the counter over all bytes, because a table of sessions uses some bytes as a hash.
        u128::from(self.counter).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_le_bytes()
    }

    fn input_schema(&self, tool: &str) -> Option<&str> {
        (tool == "marked").then_some(TOKEN)
    }

    fn sign(&self, data: &[u8]) -> Option<[u8; 16]> {
        let mut sum = [7u8; 16];
        for (index, byte) in data.iter().enumerate() {
            sum[index % 16] = sum[index % 16].wrapping_mul(31).wrapping_add(*byte);
        }
        Some(sum)
    }
}

/// A call that waits for its response.
#[derive(Debug)]
struct Deferred {
    ticket: Ticket,
    token: String,
}

/// The application of a server, with its deferred calls.
#[derive(Debug, Default)]
pub(crate) struct Application {
    deferred: Vec<Deferred>,
}

impl Application {
    /// Handles the pending event of the core server.
    pub(crate) fn event(&mut self, server: &mut Server<'_>) {
        match server.event() {
            Some(Event::Call(call)) => self.call(call),
            Some(Event::Cancelled { ticket, .. }) => {
                self.deferred.retain(|deferred| deferred.ticket != ticket);
            }
            _ => {}
        }
    }

    fn call(&mut self, mut call: Call<'_>) {
        let token = call.raw_arguments().get("token").and_then(Json::string);
        let token = token.map(|token| token.to_string()).unwrap_or_default();
        match call.name() {
            "echo" | "marked" => call.text(token),
            "progress" => {
                let _ = call.log(Level::Info, None, "log");
                let _ = call.progress(1, None, "");
                call.text(token);
            }
            "large" => call.text(format_args!("{token} {}", "x".repeat(700))),
            "needs" => call.require_capability(ClientCapabilities::SAMPLING),
            "drop" => drop(call),
            _ => {
                // The tool `defer` has no timeout.
                let time = (call.name() == "defer").then_some(Millis(u64::MAX));
                if let Ok(ticket) = call.defer(time) {
                    self.deferred.push(Deferred { ticket, token });
                }
            }
        }
    }

    fn chosen(&self, which: u8) -> Option<&Deferred> {
        self.deferred.get(usize::from(which) % self.deferred.len().max(1))
    }

    /// Responds to a deferred call, if the server still accepts its ticket. Returns `false` if no call is deferred.
    pub(crate) fn respond(&mut self, server: &mut Server<'_>, which: u8) -> bool {
        if self.deferred.is_empty() {
            return false;
        }
        let Deferred { ticket, token } = self.deferred.remove(usize::from(which) % self.deferred.len());
        if let Ok(reply) = server.reply(ticket) {
            reply.text(token);
        }
        true
    }

    /// Sends a progress notification for a deferred call.
    pub(crate) fn progress(&mut self, server: &mut Server<'_>, which: u8) {
        if let Some(Deferred { ticket, .. }) = self.chosen(which)
            && let Ok(mut reply) = server.reply(*ticket)
        {
            let _ = reply.progress(i32::from(which), None, "");
        }
    }

    /// Pings the client of a deferred call.
    pub(crate) fn ask<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        which: u8,
    ) {
        if let Some(Deferred { ticket, .. }) = self.chosen(which)
            && http.enter(server, *ticket).is_ok()
        {
            let _ = server.ping(RequestOptions::DEFAULT.during(*ticket));
        }
    }

    /// Releases the connection of a deferred call.
    pub(crate) fn release<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &Server<'_>,
        which: u8,
    ) {
        if let Some(Deferred { ticket, .. }) = self.chosen(which) {
            let _ = http.release_connection(server, *ticket);
        }
    }
}

/// Reports a change of the list of tools to the clients that listen for such changes.
pub(crate) fn change<P: Policy>(http: &mut HttpServer<'_, P>, server: &mut Server<'_>) {
    http.changed(server, Change::Tools);
}
