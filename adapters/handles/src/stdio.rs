//! Reserves stdin and stdout for the protocol.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// The process's stdin and stdout, reserved until this guard is dropped.
///
/// Other code that reads stdin finds its end. Other output to stdout goes to stderr: from a `println!` in a library,
/// or from a child process. Dropping the guard restores both.
#[derive(Debug)]
pub struct StdioGuard {
    stdin: OwnedFd,
    stdout: OwnedFd,
}

impl StdioGuard {
    /// Duplicates both descriptors, then redirects stdin to `/dev/null` and stdout to stderr.
    ///
    /// # Errors
    /// Stdin or stdout is not open, or stderr or `/dev/null` is missing.
    pub fn acquire() -> io::Result<StdioGuard> {
        let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let stdout = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        let null = File::open("/dev/null")?;
        // Created before the redirection, so an error below restores both.
        let guard = StdioGuard { stdin, stdout };
        rustix::stdio::dup2_stdin(null)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(guard)
    }

    /// Duplicates of both as unbuffered files: stdin, then stdout.
    ///
    /// # Errors
    /// The process has reached its limit of open files.
    pub fn streams(&self) -> io::Result<(File, File)> {
        Ok((self.stdin.try_clone()?.into(), self.stdout.try_clone()?.into()))
    }
}

impl Drop for StdioGuard {
    fn drop(&mut self) {
        // Other code may have printed output that is still buffered. It belongs on stderr.
        let _ = io::Write::flush(&mut io::stdout());
        let _ = rustix::stdio::dup2_stdin(&self.stdin);
        let _ = rustix::stdio::dup2_stdout(&self.stdout);
    }
}
