//! The processes of the tests.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(crate) fn inspect() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-inspect"))
}

/// An example of the repository, as a server.
pub(crate) fn example(name: &str) -> Command {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = Path::new(env!("CARGO_BIN_EXE_mcp-inspect")).with_file_name("examples").join(file);
    // `cargo test --workspace` builds the examples, but `cargo test -p mcp-inspect` does not.
    assert!(path.exists(), "build it first: cargo build --examples");
    Command::new(path)
}

/// Runs a command with this input.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may end before it has read everything.
    let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}
