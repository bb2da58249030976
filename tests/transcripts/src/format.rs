//! Parses transcripts: see `README.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::setup::Setup;

/// One transcript: machine, input, expected output and expected events.
#[derive(Debug, Clone)]
pub struct Transcript {
    /// The path of the file in the folder of all transcripts.
    pub file: String,
    /// The line of the title in the file.
    pub line: usize,
    /// The title.
    pub title: String,
    /// The machine and its configuration.
    pub setup: Setup,
    /// Number of steps that open the session.
    pub prelude: usize,
    /// The steps in order, each with its line in the file. Steps that open the session have the line of the title.
    pub steps: Vec<(usize, Step)>,
    /// The cited rules, such as `2.1.3`, `D17` and `T22`.
    pub cited: Vec<String>,
    pub(crate) names: Names,
}

/// The abbreviations of a file.
pub(crate) type Names = BTreeMap<String, String>;

/// A step of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The peer sends these bytes.
    In(Vec<u8>),
    /// The machine writes this line. `None` stands for any line.
    Out(Option<Vec<u8>>),
    /// The machine emits this event.
    Event(String),
    /// The application runs this command after the previous event, or at the start if there is no previous event.
    Command(String),
    /// Time passes, in milliseconds.
    Time(u64),
    /// The peer closes its side, and still reads.
    End,
    /// The peer has disconnected.
    Gone,
    /// The machine has closed the connection.
    Closed,
    /// The application connects the same machine again.
    Again,
}

impl Step {
    /// Returns whether the step is a line with the keys of a request: `"method"` and `"id"`. The peer must wait for a
    /// request of the machine.
    pub(crate) fn is_request(&self) -> bool {
        let Step::Out(Some(line)) = self else { return false };
        let has = |name: &[u8]| line.windows(name.len()).any(|part| part == name);
        has(br#""method":"#) && has(br#""id":"#)
    }
}

impl Transcript {
    /// Returns the file, the line and the title.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}: {}", self.file, self.line, self.title)
    }

    /// Returns the sum of all [`Step::Time`], in milliseconds.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.steps.iter().map(|(_, step)| if let Step::Time(time) = step { *time } else { 0 }).sum()
    }

    /// Returns whether adapters can play the transcript: in real time, on one connection.
    #[must_use]
    pub fn is_for_adapters(&self) -> bool {
        self.setup.word("exact").is_none() && !self.steps.iter().any(|(_, step)| *step == Step::Again)
    }

    /// Returns whether the machine is a server.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.setup.is_server()
    }

    /// Returns the length of the peer's longest line with its newline, in bytes.
    pub(crate) fn longest(&self) -> usize {
        let (mut longest, mut line) = (0, 0);
        for (_, step) in &self.steps {
            let Step::In(bytes) = step else { continue };
            for byte in bytes {
                line = if *byte == b'\n' { 0 } else { line + 1 };
                longest = longest.max(line + 1);
            }
        }
        longest
    }

    /// Returns all expected lines and events.
    pub(crate) fn expected(&self) -> (Vec<Option<&[u8]>>, Vec<&str>) {
        let (mut lines, mut events) = (Vec::new(), Vec::new());
        for (_, step) in &self.steps {
            match step {
                Step::Out(line) => lines.push(line.as_deref()),
                Step::Event(event) => events.push(event.as_str()),
                _ => {}
            }
        }
        (lines, events)
    }
}

/// Returns the folder of the transcripts.
#[must_use]
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every transcript of every file.
#[must_use]
pub fn all() -> Vec<Transcript> {
    let mut found = Vec::new();
    for file in files() {
        let text = fs::read_to_string(folder().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        found.extend(parse(&file, &text));
    }
    found
}

/// Returns the files relative to the folder.
pub(crate) fn files() -> Vec<String> {
    let mut files = Vec::new();
    for role in ["server", "client"] {
        let entries = fs::read_dir(folder().join(role)).expect("the folder of the transcripts");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
        files.extend(names.filter(|name| name.ends_with(".txt")).map(|name| format!("{role}/{name}")));
    }
    files.sort();
    files
}

/// Parses the transcripts of one file.
///
/// # Panics
/// Panics if the file does not have the format of `README.md`.
#[must_use]
pub fn parse(file: &str, text: &str) -> Vec<Transcript> {
    let mut found: Vec<Transcript> = Vec::new();
    let mut names = Names::new();
    let mut title: Option<(usize, String, Vec<String>)> = None;
    for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        let at = format!("{file}:{line}");
        if let Some(rest) = text.strip_prefix("== ") {
            assert!(title.is_none(), "{at}: the previous transcript has no setup line");
            title = Some((line, rest.to_owned(), cited(rest)));
        } else if let Some(rest) = text.strip_prefix("= ") {
            let (name, value) = rest
                .split_once(' ')
                .unwrap_or_else(|| panic!("{at}: an abbreviation needs a name and a text"));
            let value = expand(value, &names);
            names.insert(name.to_owned(), String::from_utf8(value).expect("text"));
        } else if let Some(comment) = text.strip_prefix('#') {
            match (&mut title, found.last_mut()) {
                (Some((_, _, more)), _) => more.extend(cited(comment)),
                (None, Some(transcript)) => transcript.cited.extend(cited(comment)),
                _ => {}
            }
        } else if let Some((line, title, cited)) = title.take() {
            let setup = Setup::parse(text, &at);
            let steps: Vec<_> = setup.prelude().lines().map(|text| (line, step(text, &names, &at))).collect();
            let (file, prelude, names) = (file.to_owned(), steps.len(), names.clone());
            found.push(Transcript { file, line, title, setup, prelude, steps, cited, names });
        } else if !text.trim().is_empty() {
            let transcript =
                found.last_mut().unwrap_or_else(|| panic!("{at}: a step before the first setup line"));
            let step = step(text, &names, &at);
            if matches!(step, Step::Command(_)) && !crate::update::is_requested() {
                // The order of commands is independent of the pace only if each command follows an event.
                let after = |step: &&(usize, Step)| !matches!(step.1, Step::Out(_));
                let before = transcript.steps.iter().rev().find(after).map(|(_, step)| step);
                let is_after_event = matches!(before, None | Some(Step::Event(_) | Step::Command(_)));
                assert!(is_after_event, "{at}: a command must follow an event");
            }
            transcript.steps.push((line, step));
        }
    }
    assert!(title.is_none(), "{file}: the last transcript has no setup line");
    found
}

/// Returns the rules in brackets.
fn cited(text: &str) -> Vec<String> {
    let inside = text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    let is_row = |text: &&str| {
        text.starts_with(['D', 'T', '2']) && text[1..].chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    inside.filter(is_row).map(str::to_owned).collect()
}

fn step(text: &str, names: &Names, at: &str) -> Step {
    let (sigil, rest) = text.split_once(' ').unwrap_or((text, ""));
    let line = |newline: bool| {
        let mut bytes = expand(rest, names);
        bytes.extend(newline.then_some(b'\n'));
        bytes
    };
    match (sigil, rest) {
        (">", _) => Step::In(line(true)),
        (">>", _) => Step::In(line(false)),
        ("<", "…") => Step::Out(None),
        ("<", _) => Step::Out(Some(line(false))),
        ("!", _) => Step::Event(String::from_utf8(line(false)).expect("text")),
        ("*", _) => Step::Command(rest.to_owned()),
        ("~", "end") => Step::End,
        ("~", "gone") => Step::Gone,
        ("~", "closed") => Step::Closed,
        ("~", "again") => Step::Again,
        ("~", _) => {
            let time = rest.strip_suffix(" ms").and_then(|time| time.parse().ok());
            Step::Time(time.unwrap_or_else(|| panic!("{at}: unknown step {text:?}")))
        }
        _ => panic!("{at}: unknown step {text:?}"),
    }
}

/// Expands `$name`, `${text*times}` and `\xff`.
fn expand(text: &str, names: &Names) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '\\']) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let escaped = &rest[at..];
        let name: &str = escaped[1..].split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        let many = escaped.strip_prefix("${").and_then(|it| it.split_once('}')).and_then(|(many, _)| {
            let (text, times) = many.rsplit_once('*')?;
            Some((text, times.parse::<usize>().ok()?, many.len() + 3))
        });
        let hex = escaped.strip_prefix("\\x").and_then(|it| u8::from_str_radix(it.get(..2)?, 16).ok());
        let length = if let Some(value) = names.get(name).filter(|_| escaped.starts_with('$')) {
            bytes.extend_from_slice(value.as_bytes());
            name.len() + 1
        } else if let Some((text, times, length)) = many {
            bytes.extend_from_slice(text.repeat(times).as_bytes());
            length
        } else if let Some(byte) = hex {
            bytes.push(byte);
            4
        } else {
            bytes.push(escaped.as_bytes()[0]);
            1
        };
        rest = &escaped[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
