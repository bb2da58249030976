//! Who a client is, and its limits: what every connector lets its user say.

use mcp_proto::client::{ClientConfig, Connect, Timeouts};
use mcp_proto::{Buffer, Client, ClientCapabilities, ConfigError, KeepAlive, Observer, Revisions};

use crate::error::ConnectError;
use crate::session::ASKED;

/// Who a client is, and its limits.
pub struct ClientSettings {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Which era it tries.
    pub connect: Connect,
    /// The revisions that it speaks.
    pub revisions: Revisions,
    /// How long it waits.
    pub timeouts: Timeouts,
    /// The most pages that a list may have.
    pub pages: u32,
    /// How long a message of the server may be.
    pub longest_line: usize,
    /// How long a request may be.
    pub longest_request: usize,
    /// How many requests may be on their way at once.
    pub requests: usize,
    /// Whether to ask the server whether it is there.
    pub pings: Option<KeepAlive>,
    /// What it does for the server.
    pub capabilities: ClientCapabilities,
}

impl ClientSettings {
    /// The usual limits: lines and requests of 16 MiB, 256 requests at once.
    #[must_use]
    pub fn new(name: String, version: String) -> ClientSettings {
        ClientSettings {
            name,
            version,
            title: None,
            connect: Connect::Automatic,
            revisions: Revisions::ALL,
            timeouts: Timeouts::DEFAULT,
            pages: 1000,
            longest_line: 16 << 20,
            longest_request: 16 << 20,
            requests: 256,
            pings: None,
            capabilities: ClientCapabilities::NONE,
        }
    }

    /// What the machine is made of.
    #[must_use]
    pub fn info(&self) -> ClientConfig<'_> {
        let info = ClientConfig::new(&self.name, &self.version)
            .connect(self.connect)
            .revisions(self.revisions)
            .timeouts(self.timeouts)
            .capabilities(self.capabilities)
            .pages(self.pages);
        match &self.title {
            Some(title) => info.title(title),
            None => info,
        }
    }

    /// The machine for one attempt to connect.
    ///
    /// # Errors
    /// The client is not set up well.
    pub fn client<'c>(
        &self,
        info: &'c ClientConfig<'c>,
        observer: Option<&'c mut Box<dyn Observer + Send>>,
    ) -> Result<Client<'c>, ConfigError> {
        let (rx, tx) = (Buffer::grown(self.longest_line), Buffer::grown(self.longest_request));
        let mut client = Client::new(info, rx, tx)?.in_flight_grown(self.requests.saturating_add(ASKED));
        if let Some(pings) = self.pings {
            client = client.keep_alive(pings);
        }
        if let Some(observer) = observer {
            client = client.observe(&mut **observer);
        }
        Ok(client)
    }

    /// Whether another attempt is worth it, after the server has ended while it was asked which era it is of: some old
    /// ones do. The next attempt is a handshake.
    pub fn falls_back(&mut self, error: &ConnectError) -> bool {
        let has_handshake = !self.revisions.and(Revisions::HANDSHAKE).is_empty();
        let falls_back =
            matches!(error, ConnectError::Closed(_)) && self.connect == Connect::Automatic && has_handshake;
        if falls_back {
            self.connect = Connect::Handshake;
        }
        falls_back
    }
}

impl std::fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSettings")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// The methods of a connector that only say who the client is and what its limits are. It has the fields `settings`
/// ([`ClientSettings`]), `observer`, `stderr` and `ending`.
#[doc(hidden)]
#[macro_export]
macro_rules! client_settings {
    () => {
        /// A name for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.settings.title = Some(title.into());
            self
        }

        /// Which era it tries: [`Connect::Automatic`](mcp_proto::client::Connect::Automatic) if this is not called.
        ///
        /// With that, a child process that ends when it is asked which era it is of, as some old servers do, is started
        /// once more, and gets the handshake only.
        #[must_use]
        pub fn connect(mut self, connect: mcp_proto::client::Connect) -> Self {
            self.settings.connect = connect;
            self
        }

        /// The revisions that it speaks: all of them if this is not called.
        #[must_use]
        pub fn revisions(mut self, revisions: mcp_proto::Revisions) -> Self {
            self.settings.revisions = revisions;
            self
        }

        /// How long it waits while it connects and while it closes. Each request has [options](crate::CallOptions).
        #[must_use]
        pub fn timeouts(mut self, timeouts: mcp_proto::client::Timeouts) -> Self {
            self.settings.timeouts = timeouts;
            self
        }

        /// The most pages that a list may have.
        #[must_use]
        pub fn pages(mut self, limit: u32) -> Self {
            self.settings.pages = limit;
            self
        }

        /// How long a message of the server may be, in bytes.
        #[must_use]
        pub fn longest_line(mut self, bytes: usize) -> Self {
            self.settings.longest_line = bytes;
            self
        }

        /// How long a request may be, in bytes.
        #[must_use]
        pub fn longest_request(mut self, bytes: usize) -> Self {
            self.settings.longest_request = bytes;
            self
        }

        /// How many requests may be on their way at once. More are refused as [`CallError::Busy`](crate::CallError::Busy).
        #[must_use]
        pub fn requests(mut self, limit: usize) -> Self {
            self.settings.requests = limit;
            self
        }

        /// Asks the server whether it is there when nothing was heard of it for a while.
        #[must_use]
        pub fn keep_alive(mut self, pings: mcp_proto::KeepAlive) -> Self {
            self.settings.pings = Some(pings);
            self
        }

        /// Shows every message to `observer`, where the client is run.
        #[must_use]
        pub fn observe(mut self, observer: impl mcp_proto::Observer + Send + 'static) -> Self {
            self.observer = Some(Box::new(observer));
            self
        }

        /// What becomes of the stderr of a child process: inherited, if this is not called.
        #[must_use]
        pub fn stderr(mut self, stderr: $crate::Stderr) -> Self {
            self.stderr = stderr;
            self
        }

        /// How long a child process may take to end.
        #[must_use]
        pub fn ending(mut self, ending: $crate::Ending) -> Self {
            self.ending = ending;
            self
        }
    };
}
