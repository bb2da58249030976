//! What a request is by its method, whoever named it: whether the server may ask back before it answers, and whether
//! doing it twice does harm.

/// What a request is by its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Call,
    GetPrompt,
    ReadResource,
    /// Something else that only looks.
    Reading,
    Listen,
    Other,
}

/// The methods whose nature matters.
const METHODS: [(&str, Nature); 11] = [
    ("tools/call", Nature::Call),
    ("prompts/get", Nature::GetPrompt),
    ("resources/read", Nature::ReadResource),
    ("tools/list", Nature::Reading),
    ("prompts/list", Nature::Reading),
    ("resources/list", Nature::Reading),
    ("resources/templates/list", Nature::Reading),
    ("completion/complete", Nature::Reading),
    ("ping", Nature::Reading),
    ("server/discover", Nature::Reading),
    ("subscriptions/listen", Nature::Listen),
];

impl Nature {
    pub(crate) fn of(method: &str) -> Nature {
        METHODS.into_iter().find(|(name, _)| *name == method).map_or(Nature::Other, |(_, nature)| nature)
    }

    /// The method of a request that the server may answer with questions (`2026-07-28`).
    pub(crate) fn may_ask(self) -> Option<&'static str> {
        let asks = matches!(self, Nature::Call | Nature::GetPrompt | Nature::ReadResource);
        METHODS.into_iter().find(|(_, nature)| asks && *nature == self).map(|(name, _)| name)
    }

    /// Whether doing it twice does no harm.
    pub(crate) fn is_repeatable(self) -> bool {
        !matches!(self, Nature::Call | Nature::Other)
    }
}
