//! A minimal hand-written echo server with serde_json.
//!
//! The server parses every message, borrows where possible, and writes once for each read. The server validates little,
//! keeps no state, and supports three methods in two revisions.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: Echo<'a>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a str>,
}

#[derive(Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

const INITIALIZE_RESULT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#;
const DISCOVER_RESULT: &str = concat!(
    r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28","2025-11-25"],"#,
    r#""capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}}}"#
);
/// The members of a result of 2026-07-28 before its content.
const STATELESS_MEMBERS: &[u8] = concat!(
    r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":"#,
    r#"{"name":"echo","version":"1"}},"#
)
.as_bytes();

fn respond(line: &[u8], out: &mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
    let message: Message<'_> = serde_json::from_slice(line)?;
    let Some(id) = message.id else { return Ok(()) };
    write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
    if message.method == "initialize" {
        out.extend_from_slice(INITIALIZE_RESULT.as_bytes());
    } else if message.method == "server/discover" {
        out.extend_from_slice(DISCOVER_RESULT.as_bytes());
    } else {
        let call: Call<'_> = serde_json::from_str(message.params.ok_or("no parameters")?.get())?;
        if call.name != "echo" {
            return Err("no such tool".into());
        }
        out.push(b'{');
        match call.meta.and_then(|it| it.version) {
            None => {}
            Some("2026-07-28") => out.extend_from_slice(STATELESS_MEMBERS),
            Some(_) => return Err("another revision".into()),
        }
        out.extend_from_slice(br#""content":[{"type":"text","text":"#);
        serde_json::to_writer(&mut *out, &call.arguments.text)?;
        out.extend_from_slice(b"}]}");
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let (mut read_buffer, mut line, mut out) = (vec![0; 1 << 16], Vec::new(), Vec::new());
    loop {
        let n = input.read(&mut read_buffer)?;
        if n == 0 {
            return Ok(());
        }
        for piece in read_buffer[..n].split_inclusive(|byte| *byte == b'\n') {
            if piece.last() != Some(&b'\n') {
                line.extend_from_slice(piece);
            } else if line.is_empty() {
                respond(piece, &mut out)?;
            } else {
                line.extend_from_slice(piece);
                respond(&line, &mut out)?;
                line.clear();
            }
        }
        output.write_all(&out)?;
        out.clear();
    }
}
