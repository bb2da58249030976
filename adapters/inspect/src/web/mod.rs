//! A page on loopback that shows a session live.

mod address;
mod entry;
mod feed;
mod site;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub(crate) use address::parse_address;
pub(crate) use feed::Feed;
use site::Site;

/// The time that open pages get to receive the last messages.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A running HTTP server for the page.
pub(crate) struct Web {
    feed: Feed,
    url: String,
}

impl Web {
    /// Starts to serve a page about the session. `server` is the command or the URL of the MCP server. If another
    /// program uses the port, the page gets a free port, because a client may start this program several times with the
    /// same configuration.
    pub(crate) fn start(address: SocketAddr, server: &[String]) -> Result<Web, String> {
        let listener = TcpListener::bind(address)
            .or_else(|error| match error.kind() {
                ErrorKind::AddrInUse => TcpListener::bind((address.ip(), 0)),
                _ => Err(error),
            })
            .map_err(|error| format!("--web cannot listen on {address}: {error}"))?;
        let address = listener.local_addr().map_err(|error| format!("--web {address}: {error}"))?;
        let token = random_token()?;
        let url = format!("http://{address}/{token}/");
        let feed = Feed::new();
        let site = Arc::new(Site::new(feed.clone(), token, title(server)));
        thread::spawn(move || site.serve(&listener));
        Ok(Web { feed, url })
    }

    /// Returns the address of the page, which contains the token.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn feed(&self) -> Feed {
        self.feed.clone()
    }

    /// Reports the end of the session to the pages. Waits up to [`CLOSE_TIMEOUT`] for open pages to receive the last
    /// messages.
    pub(crate) fn close(&self) {
        self.feed.close(CLOSE_TIMEOUT);
    }
}

/// Returns the command of the server without the folder of the program, or the URL of the server.
fn title(server: &[String]) -> String {
    let program = server.first().filter(|program| !program.contains("://")).map(Path::new);
    let name = program.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let skipped = usize::from(name.is_some());
    name.into_iter().chain(server.iter().skip(skipped).cloned()).collect::<Vec<_>>().join(" ")
}

/// Returns 128 random bits as hexadecimal text.
fn random_token() -> Result<String, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| format!("--web has no random numbers: {error}"))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_the_command_without_its_folder() {
        for (command, expected) in [
            (&["/usr/bin/server", "--root", "/tmp"][..], "server --root /tmp"),
            (&["server"], "server"),
            (&["http://127.0.0.1/mcp"], "http://127.0.0.1/mcp"),
            (&[".."], ".."),
            (&[], ""),
        ] {
            let command: Vec<String> = command.iter().map(|word| String::from(*word)).collect();
            assert_eq!(title(&command), expected);
        }
    }
}
