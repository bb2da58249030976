//! Parses the command line.

use std::time::Duration;

use crate::router::Settings;

pub(crate) const USAGE: &str = "\
usage: mcp-serial-bridge PORT [OPTION...]

PORT is a serial port, such as /dev/ttyACM0 or COM3, or tcp:HOST:PORT.

  --baud RATE   bits per second of the serial port (115200)
  --settle MS   at the start, ping the board, wait at most MS for the response, and discard earlier output (5000;
                0: neither)
  --timeout MS  fail a request after MS without a response, progress, or confirmation that the board still has it
                (60000; 0: no limit)
  --reopen MS   try for at most MS to open a lost port or connection again (10000; 0: exit immediately)
  --framed      exchange frames with checksums, and repeat lost frames; the board must use frames, too
  --no-break    do not send a break when the port is opened
  --no-mark     send an empty line where a session begins and ends, instead of the session mark (four bytes 0x04)
  --grace MS    wait at most MS for responses after the client has disconnected (1500)
  --help        show this text";

/// The address of the board.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Serial(String),
    /// `HOST:PORT`.
    Tcp(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) address: Address,
    pub(crate) baud: u32,
    pub(crate) reopen: Duration,
    pub(crate) sends_break: bool,
    pub(crate) grace: Duration,
    pub(crate) settings: Settings,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Bridge(Options),
    Help,
}

impl Options {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut address = None;
        let mut options = Options {
            address: Address::Serial(String::new()),
            baud: 115_200,
            reopen: Duration::from_millis(10_000),
            sends_break: true,
            grace: Duration::from_millis(1500),
            settings: Settings {
                settle: Duration::from_millis(5000),
                timeout: Duration::from_secs(60),
                mark: true,
                framed: false,
            },
        };
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().ok_or(format!("{word} needs a number"))?;
                value.parse::<u32>().map_err(|_| format!("{word} needs a number, not {value}"))
            };
            match word.as_str() {
                "--help" | "-h" => return Ok(Wanted::Help),
                "--baud" => options.baud = number()?,
                "--settle" => options.settings.settle = Duration::from_millis(number()?.into()),
                "--timeout" => options.settings.timeout = Duration::from_millis(number()?.into()),
                "--reopen" => options.reopen = Duration::from_millis(number()?.into()),
                "--grace" => options.grace = Duration::from_millis(number()?.into()),
                "--framed" => options.settings.framed = true,
                "--no-break" => options.sends_break = false,
                "--no-mark" => options.settings.mark = false,
                option if option.starts_with('-') => return Err(format!("{option} is not an option")),
                _ if address.is_some() => {
                    return Err(format!("{word} is a second port, but only one is possible"));
                }
                _ => address = Some(Address::parse(word)?),
            }
        }
        options.address = address.ok_or("the serial port is missing")?;
        Ok(Wanted::Bridge(options))
    }
}

impl Address {
    fn parse(word: String) -> Result<Address, String> {
        match word.strip_prefix("tcp:") {
            None => Ok(Address::Serial(word)),
            Some(host) if host.contains(':') => Ok(Address::Tcp(host.into())),
            Some(_) => Err(format!("{word} has no port number: tcp:HOST:PORT is expected")),
        }
    }
}
