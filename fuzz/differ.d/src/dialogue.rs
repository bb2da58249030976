//! Dialogues: setup, transport options and steps; reads transcripts as dialogues.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Debug, Clone, Default)]
pub struct Dialogue {
    /// The source of the dialogue.
    pub name: String,
    /// The first line: `server` or `client`, and the configuration.
    pub setup: String,
    /// Options of the byte movement.
    pub options: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The peer sends a line.
    Line(Vec<u8>),
    /// The peer sends bytes.
    Bytes(Vec<u8>),
    /// The application calls the machine.
    Command(String),
    /// A transport event.
    Event(String),
}

impl Dialogue {
    pub fn is_server(&self) -> bool {
        self.setup.starts_with("server")
    }

    /// Formats the dialogue as text for the programs that play it, without the line `.` that ends it.
    pub fn text(&self) -> String {
        let mut text = format!("# {}\n{}\n{}\n", self.name.replace('\n', " "), self.setup, self.options);
        for step in &self.steps {
            match step {
                Step::Line(bytes) => text += &format!("> {}\n", escape(bytes)),
                Step::Bytes(bytes) => text += &format!(">> {}\n", escape(bytes)),
                Step::Command(command) => text += &format!("* {command}\n"),
                Step::Event(event) => text += &format!("~ {event}\n"),
            }
        }
        text
    }

    /// Parses the text that [`Dialogue::text`] writes.
    pub fn parse(text: &str) -> Dialogue {
        let mut dialogue = Dialogue::default();
        let mut lines = text.lines().filter(|line| *line != ".");
        let first = lines.clone().next().unwrap_or_default();
        if let Some(name) = first.strip_prefix("# ") {
            dialogue.name = name.to_owned();
            lines.next();
        }
        dialogue.setup = lines.next().unwrap_or_default().to_owned();
        dialogue.options = lines.next().unwrap_or_default().to_owned();
        dialogue.steps = lines.filter_map(|line| step(line, &BTreeMap::new())).collect();
        dialogue
    }

    /// Sets a word of a setup or of options, or removes the word if `value` is `None`.
    pub fn set(text: &mut String, name: &str, value: Option<&str>) {
        let is_it = |word: &&str| word.split('=').next() == Some(name);
        let mut words: Vec<String> =
            text.split_whitespace().filter(|word| !is_it(word)).map(str::to_owned).collect();
        words.extend(
            value.map(|value| if value.is_empty() { name.to_owned() } else { format!("{name}={value}") }),
        );
        *text = words.join(" ");
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.setup.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns the steps that open the session of the setup, or no steps if the setup has no session.
    fn prelude(&self) -> Vec<Step> {
        let Some(revision) = self.word("session") else { return Vec::new() };
        let line = |text: String| Step::Line(text.into_bytes());
        if self.is_server() {
            let capabilities = self.word("client").unwrap_or("{}");
            return vec![
                line(format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{revision}\",\
                     \"capabilities\":{capabilities},\"clientInfo\":{{\"name\":\"c\",\"version\":\"1\"}}}}}}"
                )),
                line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into()),
            ];
        }
        let everything = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}"#;
        let capabilities = self.word("server").unwrap_or(everything);
        vec![line(if revision == "2026-07-28" {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":@{{0}},\"result\":{{\"resultType\":\"complete\",\"supportedVersions\":[\"{revision}\"],\
                 \"capabilities\":{capabilities},\"ttlMs\":0,\"cacheScope\":\"private\"}}}}"
            )
        } else {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":@{{0}},\"result\":{{\"protocolVersion\":\"{revision}\",\"capabilities\":{capabilities},\
                 \"serverInfo\":{{\"name\":\"s\",\"version\":\"1\"}}}}}}"
            )
        })]
    }

    /// Creates a dialogue with an open session.
    pub fn open(name: &str, setup: &str) -> Dialogue {
        let mut dialogue = Dialogue { name: name.to_owned(), setup: setup.to_owned(), ..Dialogue::default() };
        dialogue.steps = dialogue.prelude();
        dialogue
    }
}

/// Reads the transcripts of a folder and its subfolders.
pub fn transcripts(folder: &Path) -> Vec<Dialogue> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries.flatten().map(|entry| entry.path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|it| it == "txt") {
                files.push(entry);
            }
        }
    }
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("the transcript is readable text");
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        found.extend(parse(&name, &text));
    }
    found
}

fn parse(file: &str, text: &str) -> Vec<Dialogue> {
    let mut found: Vec<Dialogue> = Vec::new();
    let mut names = BTreeMap::new();
    let mut title = None;
    for (at, line) in text.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("== ") {
            title = Some(format!("{file}:{}: {rest}", at + 1));
        } else if let Some((name, value)) = line.strip_prefix("= ").and_then(|rest| rest.split_once(' ')) {
            let value = expand(value, &names);
            names.insert(name.to_owned(), value);
        } else if line.starts_with('#') || line.trim().is_empty() {
        } else if let Some(title) = title.take() {
            found.push(Dialogue::open(&title, line));
        } else if let Some(dialogue) = found.last_mut() {
            dialogue.steps.extend(step(line, &names));
        }
    }
    found
}

/// Parses a step of a transcript. Returns `None` for expected output and expected events.
fn step(line: &str, names: &BTreeMap<String, Vec<u8>>) -> Option<Step> {
    let (sigil, rest) = line.split_once(' ').unwrap_or((line, ""));
    match sigil {
        ">" => Some(Step::Line(expand(rest, names))),
        ">>" => Some(Step::Bytes(expand(rest, names))),
        "*" => Some(Step::Command(rest.to_owned())),
        "~" if rest != "closed" => Some(Step::Event(rest.to_owned())),
        _ => None,
    }
}

/// Replaces `$name`, `${text*300}` and `\xff`.
fn expand(text: &str, names: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '\\']) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let escaped = &rest[at..];
        let name = escaped[1..].split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        let many = escaped.strip_prefix("${").and_then(|it| it.split_once('}')).and_then(|(many, _)| {
            let (text, times) = many.rsplit_once('*')?;
            Some((text, times.parse::<usize>().ok()?, many.len() + 3))
        });
        let hex = escaped.strip_prefix("\\x").and_then(|it| u8::from_str_radix(it.get(..2)?, 16).ok());
        let length = if let Some(value) = names.get(name).filter(|_| escaped.starts_with('$')) {
            bytes.extend_from_slice(value);
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

/// Formats bytes as text. Bytes other than printable ASCII become escapes such as `\xff`. The first byte of each
/// sequence that [`expand`] would replace also becomes an escape.
fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\\' if bytes.get(at + 1) == Some(&b'x') => text.push_str("\\x5c"),
            b'$' if bytes.get(at + 1) == Some(&b'{') => text.push_str("\\x24"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}
