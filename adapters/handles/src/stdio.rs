//! Stdin and stdout for the protocol alone.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// The process's stdin and stdout, taken over: whatever else reads stdin meets its end, and whatever else writes to
/// stdout, be it a `println!` in some library or a child process, goes to stderr. Given back when it is dropped.
#[derive(Debug)]
pub struct Taken {
    stdin: OwnedFd,
    stdout: OwnedFd,
}

impl Taken {
    /// Takes both over.
    ///
    /// # Errors
    /// They are not open, or there is no stderr or `/dev/null`.
    pub fn take() -> io::Result<Taken> {
        let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let stdout = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        let nothing = File::open("/dev/null")?;
        // From here on both are given back, whatever happens.
        let taken = Taken { stdin, stdout };
        rustix::stdio::dup2_stdin(nothing)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(taken)
    }

    /// Files to read and write, unbuffered.
    ///
    /// # Errors
    /// The process has as many files open as it may.
    pub fn streams(&self) -> io::Result<(File, File)> {
        Ok((self.stdin.try_clone()?.into(), self.stdout.try_clone()?.into()))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // What was printed meanwhile and is still buffered belongs on stderr, too.
        let _ = io::Write::flush(&mut io::stdout());
        let _ = rustix::stdio::dup2_stdin(&self.stdin);
        let _ = rustix::stdio::dup2_stdout(&self.stdout);
    }
}
