//! Reserves stdin and stdout for the protocol.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// The process's stdin and stdout, reserved until this guard is dropped.
///
/// Other code that reads stdin gets the end of the input. Output of other code to stdout goes to stderr: for example, a
/// `println!` in a library, or the output of a child process. Dropping the guard restores both streams.
#[derive(Debug)]
pub struct StdioGuard {
    stdin: OwnedFd,
    stdout: OwnedFd,
}

impl StdioGuard {
    /// Duplicates both descriptors, then redirects stdin to `/dev/null` and stdout to stderr.
    ///
    /// # Errors
    /// Stdin, stdout or stderr is not open, `/dev/null` is missing, or the process has reached its limit of open files.
    pub fn acquire() -> io::Result<StdioGuard> {
        let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let stdout = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        let null = File::open("/dev/null")?;
        // Create the guard before the redirection, so that its destructor restores both streams after an error below.
        let guard = StdioGuard { stdin, stdout };
        rustix::stdio::dup2_stdin(null)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(guard)
    }

    /// Returns unbuffered duplicates of stdin and stdout, in this order.
    ///
    /// # Errors
    /// The process has reached its limit of open files.
    pub fn streams(&self) -> io::Result<(File, File)> {
        Ok((self.stdin.try_clone()?.into(), self.stdout.try_clone()?.into()))
    }
}

impl Drop for StdioGuard {
    fn drop(&mut self) {
        // Buffered output of other code belongs on stderr, so flush it before stdout is restored.
        let _ = io::Write::flush(&mut io::stdout());
        let _ = rustix::stdio::dup2_stdin(&self.stdin);
        let _ = rustix::stdio::dup2_stdout(&self.stdout);
    }
}
