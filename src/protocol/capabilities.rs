//! Capabilities of clients and servers, as bit sets.

use crate::json::{Json, WriteText, Writer, prints};
use crate::protocol::objects::skill::{DIRECTORY_READ, EXTENSION as SKILLS_EXTENSION};
use crate::protocol::objects::task::EXTENSION;
use crate::protocol::revision::{Revision, WireFeature};

macro_rules! bits {
    ($name:ident) => {
        impl $name {
            /// The empty set.
            pub const NONE: $name = $name(0);

            /// Returns whether the set contains all capabilities of `other`.
            #[must_use]
            pub const fn has(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns the union with `other`.
            #[must_use]
            pub const fn with(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// Returns this set without the capabilities of `other`.
            #[must_use]
            pub const fn without(self, other: $name) -> $name {
                $name(self.0 & !other.0)
            }

            fn add(&mut self, other: $name, declared: bool) {
                if declared {
                    *self = self.with(other);
                }
            }
        }
    };
}

/// The capabilities that a client declares.
///
/// The client declares its capabilities in `initialize`, or in the `_meta` of each request (`2026-07-28`).
///
/// Specification: *Lifecycle*, *Capability negotiation*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ClientCapabilities(u8);

bits!(ClientCapabilities);

/// A capability of a client, and its members.
type Group = (&'static str, ClientCapabilities, [(&'static str, ClientCapabilities); 2]);

impl ClientCapabilities {
    /// `roots`
    pub const ROOTS: ClientCapabilities = ClientCapabilities(1);
    /// `sampling`
    pub const SAMPLING: ClientCapabilities = ClientCapabilities(2);
    /// `elicitation` in form mode.
    ///
    /// Before `2025-11-25`, this mode is the only mode. An empty object `elicitation` also declares this mode.
    pub const ELICITATION_FORM: ClientCapabilities = ClientCapabilities(4);
    /// `elicitation.url`
    pub const ELICITATION_URL: ClientCapabilities = ClientCapabilities(8);
    /// `roots.listChanged`
    pub const ROOTS_LIST_CHANGED: ClientCapabilities = ClientCapabilities(16);
    /// `sampling.tools`
    pub const SAMPLING_TOOLS: ClientCapabilities = ClientCapabilities(32);
    /// `sampling.context`
    pub const SAMPLING_CONTEXT: ClientCapabilities = ClientCapabilities(64);

    /// Adds the parent of each sub-capability.
    pub(crate) const fn with_parents(mut self) -> ClientCapabilities {
        if self.has(Self::ROOTS_LIST_CHANGED) {
            self = self.with(Self::ROOTS);
        }
        if self.has(Self::SAMPLING_TOOLS) || self.has(Self::SAMPLING_CONTEXT) {
            self = self.with(Self::SAMPLING);
        }
        self
    }

    /// Each capability with its members. A member has a bit of its own. `elicitation` has no bit besides the bits of
    /// its members. The member with the empty name only fills the array.
    const GROUPS: [Group; 3] = [
        ("roots", Self::ROOTS, [("listChanged", Self::ROOTS_LIST_CHANGED), ("", Self::NONE)]),
        ("sampling", Self::SAMPLING, [("context", Self::SAMPLING_CONTEXT), ("tools", Self::SAMPLING_TOOLS)]),
        ("elicitation", Self::NONE, [("form", Self::ELICITATION_FORM), ("url", Self::ELICITATION_URL)]),
    ];

    pub(crate) fn from_json(declared: Json<'_>) -> ClientCapabilities {
        let mut bits = ClientCapabilities::NONE;
        for (name, whole, flags) in &ClientCapabilities::GROUPS {
            let value = declared.get(name);
            bits.add(*whole, is_declared(value));
            for (flag, bit) in flags {
                bits.add(*bit, has_flag(value, flag));
            }
            // Elicitation without a mode is in form mode.
            let is_form =
                *whole == ClientCapabilities::NONE && !bits.has(ClientCapabilities::ELICITATION_URL);
            bits.add(ClientCapabilities::ELICITATION_FORM, is_form && is_declared(value));
        }
        bits
    }

    /// Writes the object `requiredCapabilities`. Omits `roots.listChanged`, because a server cannot require this
    /// capability.
    pub(crate) fn write(self, out: &mut Writer<'_>) {
        out.begin_object();
        self.without(ClientCapabilities::ROOTS_LIST_CHANGED).write_members(true, out);
        out.end_object();
    }

    /// Writes the members of a declaration. If `has_modes` is false, omits the modes of elicitation.
    pub(crate) fn write_members(self, has_modes: bool, out: &mut Writer<'_>) {
        let declared = |bit: ClientCapabilities| bit != ClientCapabilities::NONE && self.has(bit);
        for (name, whole, flags) in ClientCapabilities::GROUPS {
            if !declared(whole) && !flags.iter().any(|(_, bit)| declared(*bit)) {
                continue;
            }
            out.begin_object_at(name);
            let has_flags = has_modes || whole != ClientCapabilities::NONE;
            for (flag, bit) in flags.into_iter().filter(|(_, bit)| has_flags && declared(*bit)) {
                out.key(flag);
                out.token(if bit == ClientCapabilities::ROOTS_LIST_CHANGED { "true" } else { "{}" });
            }
            out.end_object();
        }
    }
}

/// Writes the names of the capabilities, such as `sampling.tools`, separated by commas.
impl WriteText for ClientCapabilities {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let mut separator = "";
        for (name, whole, flags) in ClientCapabilities::GROUPS {
            for (flag, bit) in [("", whole)].into_iter().chain(flags) {
                if bit != ClientCapabilities::NONE && self.has(bit) {
                    let dot = if flag.is_empty() { "" } else { "." };
                    (separator, name, dot, flag).pieces(put);
                    separator = ", ";
                }
            }
        }
    }
}

prints!(ClientCapabilities);

/// The capabilities that a server declares.
///
/// The server declares its capabilities in its response to `initialize`, or to `server/discover` (`2026-07-28`).
///
/// Specification: *Lifecycle*, *Capability negotiation*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ServerCapabilities(u16);

bits!(ServerCapabilities);

impl ServerCapabilities {
    /// `tools`
    pub const TOOLS: ServerCapabilities = ServerCapabilities(1);
    /// `tools.listChanged`
    pub const TOOLS_LIST_CHANGED: ServerCapabilities = ServerCapabilities(2);
    /// `resources`
    pub const RESOURCES: ServerCapabilities = ServerCapabilities(4);
    /// `resources.listChanged`
    pub const RESOURCES_LIST_CHANGED: ServerCapabilities = ServerCapabilities(8);
    /// `resources.subscribe`
    pub const RESOURCES_SUBSCRIBE: ServerCapabilities = ServerCapabilities(16);
    /// `prompts`
    pub const PROMPTS: ServerCapabilities = ServerCapabilities(32);
    /// `prompts.listChanged`
    pub const PROMPTS_LIST_CHANGED: ServerCapabilities = ServerCapabilities(64);
    /// `completions`
    pub const COMPLETIONS: ServerCapabilities = ServerCapabilities(128);
    /// `logging`
    pub const LOGGING: ServerCapabilities = ServerCapabilities(256);
    /// `tasks.requests.tools.call` (`2025-11-25`), or the extension of tasks (`2026-07-28`).
    ///
    /// [`Client::capabilities`](crate::Client::capabilities) contains the capabilities for tasks only if the client is
    /// [configured](crate::client::ClientConfig::tasks) for tasks.
    pub const TASKS: ServerCapabilities = ServerCapabilities(512);
    /// `tasks.cancel` (`2025-11-25`), or the extension of tasks (`2026-07-28`).
    pub const TASKS_CANCEL: ServerCapabilities = ServerCapabilities(1024);
    /// `tasks.list` (`2025-11-25`)
    pub const TASKS_LIST: ServerCapabilities = ServerCapabilities(2048);
    /// The extension of skills (`2026-07-28`; some servers of earlier revisions also declare this extension).
    pub const SKILLS: ServerCapabilities = ServerCapabilities(4096);
    /// `directoryRead` of the extension of skills
    pub const SKILLS_DIRECTORY_READ: ServerCapabilities = ServerCapabilities(8192);

    pub(crate) fn from_json(declared: Json<'_>) -> ServerCapabilities {
        let [tools, resources, prompts, completions, logging, extensions] =
            declared.pick(["tools", "resources", "prompts", "completions", "logging", "extensions"]);
        let skills = extensions.and_then(|extensions| extensions.get(SKILLS_EXTENSION));
        let mut bits = ServerCapabilities::NONE;
        bits.add(ServerCapabilities::TOOLS, is_declared(tools));
        bits.add(ServerCapabilities::TOOLS_LIST_CHANGED, has_flag(tools, "listChanged"));
        bits.add(ServerCapabilities::RESOURCES, is_declared(resources));
        bits.add(ServerCapabilities::RESOURCES_LIST_CHANGED, has_flag(resources, "listChanged"));
        bits.add(ServerCapabilities::RESOURCES_SUBSCRIBE, has_flag(resources, "subscribe"));
        bits.add(ServerCapabilities::PROMPTS, is_declared(prompts));
        bits.add(ServerCapabilities::PROMPTS_LIST_CHANGED, has_flag(prompts, "listChanged"));
        bits.add(ServerCapabilities::COMPLETIONS, is_declared(completions));
        bits.add(ServerCapabilities::LOGGING, is_declared(logging));
        bits.add(ServerCapabilities::SKILLS, is_declared(skills));
        bits.add(ServerCapabilities::SKILLS_DIRECTORY_READ, has_flag(skills, DIRECTORY_READ));
        bits
    }

    /// Reads only the capabilities for tasks.
    pub(crate) fn tasks_from_json(declared: Json<'_>, revision: Revision) -> ServerCapabilities {
        let mut bits = ServerCapabilities::NONE;
        if revision.has(WireFeature::TasksExtension) {
            let is_extension = has_flag(declared.get("extensions"), EXTENSION);
            bits.add(ServerCapabilities::TASKS.with(ServerCapabilities::TASKS_CANCEL), is_extension);
        } else if revision.has(WireFeature::Tasks) {
            let tasks = declared.get("tasks");
            let tools = tasks.and_then(|tasks| tasks.get("requests")?.get("tools"));
            bits.add(ServerCapabilities::TASKS, has_flag(tools, "call"));
            bits.add(ServerCapabilities::TASKS_CANCEL, has_flag(tasks, "cancel"));
            bits.add(ServerCapabilities::TASKS_LIST, has_flag(tasks, "list"));
        }
        bits
    }
}

/// Returns whether a value declares a capability.
///
/// Such a value is an object or `true`. Some implementations also write `true` for capabilities that are objects in the
/// specification.
pub(crate) fn is_declared(value: Option<Json<'_>>) -> bool {
    matches!(value.map(Json::bytes), Some([b'{', ..] | b"true"))
}

fn has_flag(value: Option<Json<'_>>, flag: &str) -> bool {
    is_declared(value.and_then(|value| value.get(flag)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferMut;

    #[test]
    fn an_object_or_true_declares_a_client_capability() {
        use ClientCapabilities as C;
        let cases: &[(&str, C)] = &[
            ("{}", C::NONE),
            (r#"{"roots":{},"sampling":true}"#, C::ROOTS.with(C::SAMPLING)),
            (r#"{"roots":false,"sampling":null,"elicitation":1}"#, C::NONE),
            (r#"{"roots":{"listChanged":true}}"#, C::ROOTS.with(C::ROOTS_LIST_CHANGED)),
            (r#"{"roots":{"listChanged":false}}"#, C::ROOTS),
            (r#"{"elicitation":{}}"#, C::ELICITATION_FORM),
            (r#"{"elicitation":{"url":{}}}"#, C::ELICITATION_URL),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, C::ELICITATION_FORM.with(C::ELICITATION_URL)),
            (r#"{"sampling":{"tools":{}},"tools":{}}"#, C::SAMPLING.with(C::SAMPLING_TOOLS)),
            (
                r#"{"sampling":{"context":{},"tools":{}}}"#,
                C::SAMPLING.with(C::SAMPLING_TOOLS).with(C::SAMPLING_CONTEXT),
            ),
            (r#"{"experimental":{"sampling":true}}"#, C::NONE),
        ];
        for (text, expected) in cases {
            assert_eq!(C::from_json(Json::parse(text.as_bytes()).unwrap()), *expected, "{text}");
        }
    }

    #[test]
    fn written_client_capabilities_read_back() {
        for bits in 0..128 {
            // `write` omits `roots.listChanged`, because a server cannot require this capability.
            let bits = ClientCapabilities(bits & !ClientCapabilities::ROOTS_LIST_CHANGED.0);
            let mut text = [0; 128];
            let mut out = Writer::new(BufferMut::Lent(&mut text), 0, 128);
            bits.write(&mut out);
            let read = ClientCapabilities::from_json(Json::parse(out.written()).unwrap());
            let tools = ClientCapabilities::SAMPLING_TOOLS.with(ClientCapabilities::SAMPLING_CONTEXT);
            let implied = if bits.0 & tools.0 != 0 { ClientCapabilities::SAMPLING.0 } else { 0 };
            assert_eq!(read.0, bits.0 | implied);
        }
    }

    #[test]
    fn client_capabilities_print_their_names() {
        use ClientCapabilities as C;
        let sampling = C::SAMPLING.with(C::SAMPLING_TOOLS).with(C::ELICITATION_URL);
        for (capabilities, expected) in [
            (C::NONE, ""),
            (C::ROOTS, "roots"),
            (C::ELICITATION_FORM, "elicitation.form"),
            (sampling, "sampling, sampling.tools, elicitation.url"),
        ] {
            assert_eq!(std::string::ToString::to_string(&capabilities), expected);
        }
    }

    #[test]
    fn an_object_or_true_declares_a_server_capability() {
        use ServerCapabilities as S;
        let text =
            r#"{"tools":{"listChanged":true},"prompts":true,"logging":{},"resources":{"subscribe":true}}"#;
        let expected = [S::TOOLS_LIST_CHANGED, S::PROMPTS, S::LOGGING, S::RESOURCES, S::RESOURCES_SUBSCRIBE]
            .into_iter()
            .fold(S::TOOLS, S::with);
        assert_eq!(S::from_json(Json::parse(text.as_bytes()).unwrap()), expected);
        assert!(!expected.has(S::COMPLETIONS) && expected.has(S::TOOLS));
    }
}
