//! Parses the address of `--web`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Parses an address: `8080`, `127.0.0.1`, `localhost:8080`, `[::1]:8080`. Without a port, the system chooses one.
///
/// Returns `None` if the word is not an address, for example because it is the command of the server.
///
/// # Errors
/// The address is not on loopback, or the port is invalid.
pub(crate) fn parse_address(word: &str) -> Option<Result<SocketAddr, String>> {
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let port = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().map_err(|_| format!("{digits} is not a port: 0 to 65535")))
    };
    let name = word.strip_prefix("localhost");
    if let Some(port) = port(name.and_then(|rest| rest.strip_prefix(':')).unwrap_or(word)) {
        return Some(port.map(|port| SocketAddr::new(localhost, port)));
    }
    let without_port = |address: IpAddr| SocketAddr::new(address, 0);
    let address = match name {
        Some("") => without_port(localhost),
        _ => word.parse().or_else(|_| word.parse().map(without_port)).ok()?,
    };
    Some(match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(format!("--web {word}: the page is served on loopback only, such as 127.0.0.1:8080")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_accepted() {
        let cases = [
            ("8080", Some(Ok("127.0.0.1:8080"))),
            ("0", Some(Ok("127.0.0.1:0"))),
            ("127.0.0.1", Some(Ok("127.0.0.1:0"))),
            ("127.1.2.3:4", Some(Ok("127.1.2.3:4"))),
            ("localhost", Some(Ok("127.0.0.1:0"))),
            ("localhost:80", Some(Ok("127.0.0.1:80"))),
            ("::1", Some(Ok("[::1]:0"))),
            ("[::1]:80", Some(Ok("[::1]:80"))),
            ("70000", Some(Err("70000 is not a port"))),
            ("localhost:70000", Some(Err("70000 is not a port"))),
            ("0.0.0.0:80", Some(Err("on loopback only"))),
            ("192.168.0.7", Some(Err("on loopback only"))),
            ("[::]:80", Some(Err("on loopback only"))),
            ("server", None),
            ("./8080", None),
            ("localhost-server", None),
            ("http://127.0.0.1/mcp", None),
            ("", None),
        ];
        for (word, expected) in cases {
            match (parse_address(word), expected) {
                (Some(Ok(address)), Some(Ok(text))) => assert_eq!(address.to_string(), text, "{word}"),
                (Some(Err(why)), Some(Err(text))) => assert!(why.contains(text), "{word}: {why}"),
                (found, expected) => assert_eq!(found.is_none(), expected.is_none(), "{word}: {found:?}"),
            }
        }
    }
}
