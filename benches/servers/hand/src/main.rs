//! A minimal echo server written by hand with serde_json.
//!
//! It parses every message, borrows where possible, and writes once for each read. It validates nothing, keeps no state,
//! and supports two methods.

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
}

#[derive(Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

const HELLO: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#;

fn answer(line: &[u8], out: &mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
    let message: Message<'_> = serde_json::from_slice(line)?;
    let Some(id) = message.id else { return Ok(()) };
    write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
    if message.method == "initialize" {
        out.extend_from_slice(HELLO.as_bytes());
    } else {
        let call: Call<'_> = serde_json::from_str(message.params.ok_or("no parameters")?.get())?;
        if call.name != "echo" {
            return Err("no such tool".into());
        }
        out.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
        serde_json::to_writer(&mut *out, &call.arguments.text)?;
        out.extend_from_slice(b"}]}");
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let (mut chunk, mut line, mut out) = (vec![0; 1 << 16], Vec::new(), Vec::new());
    loop {
        let n = input.read(&mut chunk)?;
        if n == 0 {
            return Ok(());
        }
        for piece in chunk[..n].split_inclusive(|byte| *byte == b'\n') {
            if piece.last() != Some(&b'\n') {
                line.extend_from_slice(piece);
            } else if line.is_empty() {
                answer(piece, &mut out)?;
            } else {
                line.extend_from_slice(piece);
                answer(&line, &mut out)?;
                line.clear();
            }
        }
        output.write_all(&out)?;
        out.clear();
    }
}
