//! Runs player processes: sends dialogues, and receives transcripts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Time limit of one dialogue.
const LONGEST: Duration = Duration::from_secs(30);

/// A player process with its own thread.
pub struct Player {
    batches: Sender<Vec<String>>,
    transcripts: Receiver<Vec<String>>,
}

impl Player {
    pub fn new(program: &str) -> Player {
        let (batches, incoming) = channel::<Vec<String>>();
        let (outgoing, transcripts) = channel();
        let mut process = Process::new(program);
        thread::spawn(move || {
            for batch in incoming {
                if outgoing.send(process.play(&batch)).is_err() {
                    return;
                }
            }
        });
        Player { batches, transcripts }
    }

    /// Starts playing a batch.
    pub fn send(&self, batch: Vec<String>) {
        self.batches.send(batch).expect("a player");
    }

    /// Returns the transcripts of the oldest batch.
    pub fn receive(&self) -> Vec<String> {
        self.transcripts.recv().expect("a player")
    }
}

struct Process {
    program: String,
    child: Child,
    input: Sender<String>,
    lines: Receiver<String>,
}

impl Process {
    fn new(program: &str) -> Process {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
        let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let (input, texts) = channel::<String>();
        thread::spawn(move || texts.iter().all(|text| stdin.write_all(text.as_bytes()).is_ok()));
        let (outgoing, lines) = channel();
        thread::spawn(move || {
            let mut transcript = String::new();
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line != "." {
                    transcript.push_str(&line);
                    transcript.push('\n');
                } else if outgoing.send(std::mem::take(&mut transcript)).is_err() {
                    return;
                }
            }
            // The process has ended. The last transcript contains the output of the dialogue during which it ended.
            let _ = outgoing.send(format!("{transcript}crashed\n"));
        });
        Process { program: program.to_owned(), child, input, lines }
    }

    fn play(&mut self, batch: &[String]) -> Vec<String> {
        let mut transcripts = Vec::new();
        self.send(batch);
        while transcripts.len() < batch.len() {
            let transcript = match self.lines.recv_timeout(LONGEST) {
                Ok(transcript) if !transcript.ends_with("crashed\n") => {
                    transcripts.push(transcript);
                    continue;
                }
                Ok(transcript) => transcript,
                Err(RecvTimeoutError::Timeout) => "does not end\n".into(),
                Err(RecvTimeoutError::Disconnected) => "crashed\n".into(),
            };
            transcripts.push(transcript);
            let _ = (self.child.kill(), self.child.wait());
            *self = Process::new(&self.program);
            self.send(&batch[transcripts.len()..]);
        }
        transcripts
    }

    fn send(&self, batch: &[String]) {
        for text in batch {
            let _ = self.input.send(format!("{text}.\n"));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}
