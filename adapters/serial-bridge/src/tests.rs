//! Tests of the command line.

use std::time::Duration;

use crate::options::{Address, Options, USAGE, Wanted};
use crate::router::Settings;

fn parse(words: &str) -> Result<Wanted, String> {
    Options::parse(words.split_whitespace().map(str::to_owned))
}

#[test]
fn missing_options_have_defaults() {
    let defaults = Options {
        address: Address::Serial("/dev/ttyACM0".into()),
        baud: 115_200,
        reopen: Duration::from_secs(10),
        sends_break: true,
        grace: Duration::from_millis(1500),
        settings: Settings {
            settle: Duration::from_millis(5000),
            timeout: Duration::from_secs(60),
            mark: true,
            framed: false,
        },
    };
    assert_eq!(parse("/dev/ttyACM0"), Ok(Wanted::Bridge(defaults)));
    let all = Options {
        address: Address::Tcp("[::1]:4000".into()),
        baud: 9600,
        reopen: Duration::from_millis(700),
        sends_break: false,
        grace: Duration::ZERO,
        settings: Settings {
            settle: Duration::from_secs(2),
            timeout: Duration::ZERO,
            mark: false,
            framed: true,
        },
    };
    let words = "--baud 9600 --settle 2000 --timeout 0 --reopen 700 tcp:[::1]:4000 --framed --no-break --no-mark --grace 0";
    assert_eq!(parse(words), Ok(Wanted::Bridge(all)));
    assert_eq!(parse("a --help"), Ok(Wanted::Help));
    for (words, why) in [
        ("", "the serial port is missing"),
        ("a b", "b is a second port, but only one is possible"),
        ("a --baud", "--baud needs a number"),
        ("a --settle -1", "--settle needs a number, not -1"),
        ("a --quiet", "--quiet is not an option"),
        ("tcp:board", "tcp:board has no port number: tcp:HOST:PORT is expected"),
    ] {
        assert_eq!(parse(words), Err(why.into()), "{words}");
    }
    // The help text names every option.
    for option in [
        "--baud",
        "--settle",
        "--timeout",
        "--reopen",
        "--framed",
        "--no-break",
        "--no-mark",
        "--grace",
        "--help",
        "tcp:HOST:PORT",
    ] {
        assert!(USAGE.contains(option), "{option}");
    }
}
