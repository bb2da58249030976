//! A running server over HTTP.

use std::io::{BufRead, BufReader};
use std::process::{ChildStdin, ChildStdout};

use crate::process::{Process, Processors, pin};

/// A running server, which has printed its address.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: String,
    _pipes: (ChildStdin, BufReader<ChildStdout>),
}

impl Server {
    /// Starts a server from `NAME=COMMAND` on the processor `processors.other`.
    pub(crate) fn start(named: &str, processors: Processors) -> Server {
        pin(processors.other);
        let (process, input, output) = Process::start(named);
        pin(processors.own);
        let (mut output, mut address) = (BufReader::new(output), String::new());
        output.read_line(&mut address).expect("an address");
        Server { process, address: address.trim().into(), _pipes: (input, output) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.process.name
    }

    /// Returns whether the server responds with a constant.
    pub(crate) fn is_constant(&self) -> bool {
        self.name() == "hyper"
    }
}
