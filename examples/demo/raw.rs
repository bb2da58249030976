//! Sends invalid input to the server: garbage, and an oversized line.
//!
//! Clients of this crate never send such input, and the server must survive it.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use mcp_proto::client::Connect;

use super::{Outcome, check, server};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"demo","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}"#;

pub(super) fn tour(connect: Connect) -> Outcome {
    let mut child = server()?.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?).lines();
    let mut request = |line: &str| -> Result<String, Box<dyn std::error::Error>> {
        writeln!(input, "{line}")?;
        Ok(lines.next().ok_or("the server has exited")??)
    };
    let stateless = connect == Connect::Stateless;
    if !stateless {
        request(INITIALIZE)?;
    }
    let answer = request("this is not JSON")?;
    check("send garbage", &answer, answer.contains(r#""code":-32700"#))?;

    let filler = "x".repeat(9 << 20);
    let answer = request(&format!(r#"{{"jsonrpc":"2.0","method":"echo","filler":"{filler}","id":"huge"}}"#))?;
    let is_correct = answer.contains(r#""id":"huge""#) && answer.contains(r#""code":-32600"#);
    check("send a line of 9 MiB, its id at the end", &answer, is_correct)?;

    let meta = if stateless { format!(",{META}") } else { String::new() };
    let answer = request(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"still here"}}{meta}}}}}"#
    ))?;
    check("call echo after that", &answer, answer.contains("still here"))?;
    drop(input);
    let status = child.wait()?;
    check("close", status, status.success())
}
