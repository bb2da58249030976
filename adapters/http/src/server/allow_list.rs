//! Comparison of `Host` and `Origin` with the allowed names.

use core::net::Ipv4Addr;

use super::config::AllowList;

impl AllowList<'_> {
    /// Returns whether the list allows this value of the header field `Host`.
    #[must_use]
    pub fn has_host(self, host: &[u8]) -> bool {
        match self {
            AllowList::Any => true,
            AllowList::Loopback => is_loopback(name_of(host)),
            AllowList::Names(names) => names.iter().any(|name| {
                let has_port = name_of(name.as_bytes()).len() != name.len();
                name.as_bytes().eq_ignore_ascii_case(if has_port { host } else { name_of(host) })
            }),
        }
    }

    /// Returns whether the list allows this value of the header field `Origin`. The origin `null` is allowed only by
    /// [`AllowList::Any`], and by [`AllowList::Names`] that contain `null`.
    #[must_use]
    pub fn has_origin(self, origin: &[u8]) -> bool {
        match self {
            AllowList::Any => true,
            AllowList::Loopback => authority_of(origin).is_some_and(|host| is_loopback(name_of(host))),
            AllowList::Names(names) => names.iter().any(|name| {
                without_default_port(name.as_bytes()).eq_ignore_ascii_case(without_default_port(origin))
            }),
        }
    }
}

/// Returns the host and port of an `http` or `https` origin, or `None` for any other origin.
fn authority_of(origin: &[u8]) -> Option<&[u8]> {
    let scheme_end = origin.windows(3).position(|window| window == b"://")?;
    let (scheme, rest) = origin.split_at_checked(scheme_end)?;
    let is_web = scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https");
    rest.get(3..).filter(|_| is_web)
}

fn without_default_port(origin: &[u8]) -> &[u8] {
    let is_secure = origin.get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"https:"));
    origin.strip_suffix(if is_secure { &b":443"[..] } else { &b":80"[..] }).unwrap_or(origin)
}

/// Returns a host without its port.
fn name_of(host: &[u8]) -> &[u8] {
    let colon = host.iter().rposition(|byte| *byte == b':');
    let is_port = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    match colon.and_then(|colon| host.split_at_checked(colon)) {
        Some((name, [_, port @ ..])) if is_port(port) && (!name.contains(&b':') || name.ends_with(b"]")) => {
            name
        }
        _ => host,
    }
}

fn is_loopback(name: &[u8]) -> bool {
    let address = || core::str::from_utf8(name).ok()?.parse::<Ipv4Addr>().ok();
    name.eq_ignore_ascii_case(b"localhost")
        || name == b"[::1]"
        || address().is_some_and(|address| address.is_loopback())
}
