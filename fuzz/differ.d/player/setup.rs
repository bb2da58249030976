//! Parses the first line of a dialogue: the machine and its configuration.

use proto::client::{ClientConfig, Connect, Timeouts};
use proto::server::{Limits, SecondInitialize, ServerConfig, UnknownVersion};
use proto::{ClientCapabilities, KeepAlive, Millis, Revision, Revisions};

use crate::dialogue::Words;
use crate::server;

fn time(words: &Words, name: &str, otherwise: Millis) -> Millis {
    words.number(name).map_or(otherwise, |time| Millis(time as u64))
}

pub fn pings(words: &Words) -> Option<KeepAlive> {
    let time = Millis(words.number("ping")? as u64);
    Some(KeepAlive { interval: time, timeout: time, close: words.get("silent") != Some("told") })
}

fn revisions(words: &Words) -> Revisions {
    match words.get("revisions") {
        None => Revisions::ALL,
        Some("handshake") => Revisions::HANDSHAKE,
        Some("stateless") => Revisions::STATELESS,
        Some(list) => list
            .split(',')
            .filter_map(Revision::parse)
            .fold(Revisions::NONE, |all, revision| all.with(revision)),
    }
}

pub fn server(words: &Words) -> ServerConfig<'static> {
    let limits = Limits::DEFAULT
        .with_depth(words.number("depth").unwrap_or(64) as u8)
        .with_id(words.number("id").unwrap_or(64))
        .with_deferred_timeout(time(words, "deferred", Millis::seconds(60)))
        .with_request_timeout(time(words, "asked", Millis::seconds(60)))
        .with_grace(time(words, "grace", Millis(300)));
    let mut info = server::info(words.get("offers").unwrap_or_default());
    info = info.limits(limits).revisions(revisions(words));
    if words.has("strict") {
        info = info.strict_handshake();
    }
    if words.has("reject") {
        info = info.unknown_version(UnknownVersion::Reject);
    }
    if words.has("restart") {
        info = info.second_initialize(SecondInitialize::Restart);
    }
    if words.has("tolerant") {
        info = info.tolerate_missing_jsonrpc();
    }
    if words.get("lsp") == Some("off") {
        info = info.lsp_shutdown(false);
    }
    info
}

pub fn client(words: &Words) -> ClientConfig<'static> {
    let timeouts = Timeouts {
        probe: time(words, "probe", Timeouts::DEFAULT.probe.plus(Millis::seconds(20))),
        initialize: time(words, "initialize", Timeouts::DEFAULT.initialize),
        request: time(words, "request", Timeouts::DEFAULT.request),
        maximum: time(words, "maximum", Timeouts::DEFAULT.maximum),
        grace: time(words, "grace", Millis(300)),
    };
    let connect = match (words.get("connect"), words.get("session")) {
        (Some("automatic"), _) | (None, None | Some("2026-07-28")) => Connect::Automatic,
        (Some("stateless"), _) => Connect::Stateless,
        _ => Connect::Handshake,
    };
    let mut info = ClientConfig::new("c", "1")
        .connect(connect)
        .revisions(revisions(words))
        .timeouts(timeouts)
        .capabilities(declared(words))
        .depth(words.number("depth").unwrap_or(64) as u8)
        .rounds(words.number("rounds").unwrap_or(10) as u32)
        .pages(words.number("pages").unwrap_or(1000) as u32);
    if words.has("cursors") {
        info = info.empty_cursors();
    }
    if words.has("tolerant") {
        info = info.tolerate_missing_jsonrpc();
    }
    info
}

fn declared(words: &Words) -> ClientCapabilities {
    let names = words.get("declares").unwrap_or_default().split(',');
    names.fold(ClientCapabilities::NONE, |all, name| {
        all.with(match name {
            "roots" => ClientCapabilities::ROOTS,
            "roots-changed" => ClientCapabilities::ROOTS_LIST_CHANGED,
            "sampling" => ClientCapabilities::SAMPLING,
            "sampling-tools" => ClientCapabilities::SAMPLING_TOOLS,
            "form" => ClientCapabilities::ELICITATION_FORM,
            "url" => ClientCapabilities::ELICITATION_URL,
            _ => ClientCapabilities::NONE,
        })
    })
}
