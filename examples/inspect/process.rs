//! The server as a child process: its stdin, its stdout, and its end.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::{Clock, Io};

use crate::PATIENCE;

pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    /// What a thread has read from its stdout; it ends when that does.
    stdout: Receiver<Vec<u8>>,
    unread: Vec<u8>,
}

impl Process {
    pub(crate) fn start(command: &[String]) -> Result<Process, String> {
        let (program, arguments) = command.split_first().ok_or("no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        let mut output = child.stdout.take().ok_or("the server has no stdout")?;
        let (sender, stdout): (SyncSender<Vec<u8>>, _) = sync_channel(4);
        thread::spawn(move || {
            let mut bytes = vec![0; 64 << 10];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                if sender.send(bytes[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Process { stdin: child.stdin.take(), child, stdout, unread: Vec::new() })
    }

    /// Writes what is to be written, and reads until the deadline.
    pub(crate) fn move_bytes(&mut self, io: Io<'_>, clock: &Clock) {
        let deadline = io.deadline();
        let (out, mut input) = io.split();
        if !out.bytes().is_empty() {
            match self.stdin.as_mut().map(|stdin| stdin.write(out.bytes())) {
                Some(Ok(n)) => out.sent(n),
                _ => out.broken(),
            }
            return;
        }
        if self.unread.is_empty() {
            let wait = deadline.map_or(Duration::MAX, |at| Duration::from_millis(at.since(clock.now()).0));
            match self.stdout.recv_timeout(wait.min(Duration::from_secs(3600))) {
                Ok(bytes) => self.unread = bytes,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => return,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return input.eof(),
            }
        }
        let n = input.space().len().min(self.unread.len());
        input.space()[..n].copy_from_slice(&self.unread[..n]);
        input.filled(n);
        self.unread.drain(..n);
    }

    /// Closes the server's stdin, waits for its end, and kills it if that does not come.
    pub(crate) fn end(&mut self) {
        drop(self.stdin.take());
        let until = Instant::now() + Duration::from_millis(PATIENCE.0);
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
