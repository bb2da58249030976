//! A tap between a client and a server: forwards all bytes unchanged, and records the dialogue.
//!
//! A client starts `mcp-inspect --tap -- SERVER` instead of the server. The exit code is the exit code of the
//! server.

mod record;
pub(crate) mod transcript;

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mcp_proto::monitor::Sender;
use mcp_proto_handles::BlockingStream;

use crate::options::Arguments;
use crate::web::Web;
use record::Record;

/// Runs the server, and returns its exit code.
pub(crate) fn tap(arguments: &Arguments) -> Result<ExitCode, String> {
    let [program, words @ ..] = &arguments.command[..] else { return Err("no command".into()) };
    let failed = |path: &str, error: io::Error| format!("cannot write {path}: {error}");
    // Append, so that the log of a crash remains: a client that starts a crashed server again also starts the tap
    // again.
    let append = |path: &str| File::options().create(true).append(true).open(path);
    let mut log: Box<dyn Write + Send> = match &arguments.log {
        Some(path) => Box::new(append(path).map_err(|error| failed(path, error))?),
        None => Box::new(io::stderr()),
    };
    let create = |path: &String| File::create(path).map_err(|error| failed(path, error));
    let transcript = arguments.transcript.as_ref().map(create).transpose()?;
    let web = arguments.web.map(|address| Web::start(address, &arguments.command)).transpose()?;
    if let Some(web) = &web {
        announce(web, arguments.log.is_some().then_some(&mut log));
    }
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    let (Some(to_server), Some(from_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    let record = Arc::new(Mutex::new(Record::new(log, transcript, web.as_ref().map(Web::feed))));
    let input = Arc::clone(&record);
    // This thread may wait for the client forever, so the program does not wait for the thread.
    let from_client = BlockingStream::new(io::stdin(), || false);
    thread::spawn(move || forward(Sender::Client, from_client, to_server, &input));
    forward(Sender::Server, from_server, BlockingStream::new(io::stdout(), || false), &record);
    let status = child.wait().map_err(|error| format!("cannot wait for {program}: {error}"))?;
    if let Some(web) = &web {
        web.close();
    }
    Ok(exit_code(status))
}

/// Shows the address of the page on stderr, and in the log, because a client may hide stderr.
fn announce(web: &Web, log: Option<&mut Box<dyn Write + Send>>) {
    let text = format!("mcp-inspect: the session is shown at {}\n", web.url());
    let _ = io::stderr().write_all(text.as_bytes());
    if let Some(log) = log {
        let _ = log.write_all(text.as_bytes());
    }
}

/// Forwards bytes until the source ends, or the target closes. Records the bytes first, so that the record shows a
/// request before its response.
fn forward(sender: Sender, mut source: impl Read, mut target: impl Write, record: &Mutex<Record>) {
    let record = || record.lock().unwrap_or_else(PoisonError::into_inner);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        record().bytes(sender, &buffer[..length]);
        if target.write_all(&buffer[..length]).and_then(|()| target.flush()).is_err() {
            break;
        }
    }
    record().end(sender);
}

/// Returns the exit code of the server. After a signal, returns 128 plus the number of the signal, as a shell does.
fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code & 0xFF).unwrap_or(1))
}
