//! A baseline that responds without parsing, to measure the cost of pipes.
//!
//! The server finds line ends, and expects the id and the text where the benchmark driver always writes them.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

const INITIALIZE_RESULT: &[u8] = br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}"#;
const BEFORE_ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
const BEFORE_TEXT: &[u8] = br#","method":"tools/call","params":{"name":"echo","arguments":{"text":"#;

fn respond(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let rest = line.get(BEFORE_ID.len()..)?;
    let (id, rest) = rest.split_at_checked(memchr::memchr(b',', rest)?)?;
    if rest.starts_with(br#","method":"notifications"#) || !line.starts_with(BEFORE_ID) {
        return None;
    }
    out.extend_from_slice(BEFORE_ID);
    out.extend_from_slice(id);
    out.extend_from_slice(br#","result":"#);
    if rest.starts_with(BEFORE_TEXT) {
        out.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
        out.extend_from_slice(rest.get(BEFORE_TEXT.len()..rest.len().checked_sub(3)?)?);
        out.extend_from_slice(b"}]}}\n");
    } else {
        out.extend_from_slice(INITIALIZE_RESULT);
        out.push(b'\n');
    }
    Some(())
}

fn main() -> std::io::Result<()> {
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let (mut read_buffer, mut line, mut out) = (vec![0; 1 << 16], Vec::new(), Vec::new());
    loop {
        let n = input.read(&mut read_buffer)?;
        if n == 0 {
            return Ok(());
        }
        let mut rest = &read_buffer[..n];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if line.is_empty() {
                respond(&rest[..end], &mut out);
            } else {
                line.extend_from_slice(&rest[..end]);
                respond(&line, &mut out);
                line.clear();
            }
            rest = &rest[end + 1..];
        }
        line.extend_from_slice(rest);
        output.write_all(&out)?;
        out.clear();
    }
}
