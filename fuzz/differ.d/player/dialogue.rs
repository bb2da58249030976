//! The text of one dialogue: a setup, options of the transport, and steps.

/// One dialogue.
pub struct Dialogue {
    pub setup: Words,
    pub options: Words,
    pub steps: Vec<Step>,
}

/// Words with values: `slots=4 tolerant`.
pub struct Words {
    pub text: String,
    words: Vec<(String, String)>,
}

/// One step of a dialogue.
pub enum Step {
    /// The peer sends these bytes.
    Send(Vec<u8>),
    /// The application calls the machine.
    Command(String),
    /// Time passes, in milliseconds.
    Time(u64),
    /// The time becomes the deadline of the machine (1), or one millisecond before it (0).
    Deadline(u64),
    /// The peer closes its side, and still reads.
    End,
    /// Writing fails from now on.
    Breaks,
    /// The connection breaks.
    Gone,
    /// The application connects the machine again.
    Again,
    /// The peer reads this many more bytes, then stops reading. `usize::MAX` means no limit.
    Reads(usize),
}

impl Words {
    fn parse(text: &str) -> Words {
        let words = text.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
        let words = words.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Words { text: text.to_owned(), words }
    }

    /// Returns the value of a word, or `None` if the word is missing. A word without `=` has an empty value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(word, _)| word == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn number(&self, name: &str) -> Option<usize> {
        self.get(name).and_then(|value| value.parse().ok())
    }
}

impl Dialogue {
    pub fn parse(lines: &[String]) -> Dialogue {
        let mut lines = lines.iter().filter(|line| !line.starts_with('#'));
        let mut next = || Words::parse(lines.next().map_or("", String::as_str));
        let (setup, options) = (next(), next());
        Dialogue { setup, options, steps: lines.filter_map(|line| step(line)).collect() }
    }

    /// Returns the length of the peer's longest line, including the newline.
    pub fn longest(&self) -> usize {
        let (mut longest, mut line) = (0, 0);
        for step in &self.steps {
            let Step::Send(bytes) = step else { continue };
            for byte in bytes {
                line = if *byte == b'\n' { 0 } else { line + 1 };
                longest = longest.max(line + 1);
            }
        }
        longest
    }
}

fn step(line: &str) -> Option<Step> {
    let (sigil, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match (sigil, rest) {
        (">", _) => Step::Send([unescape(rest), b"\n".to_vec()].concat()),
        (">>", _) => Step::Send(unescape(rest)),
        ("*", _) => Step::Command(rest.to_owned()),
        ("~", "end") => Step::End,
        ("~", "breaks") => Step::Breaks,
        ("~", "gone") => Step::Gone,
        ("~", "again") => Step::Again,
        ("~", "before deadline") => Step::Deadline(0),
        ("~", "deadline") => Step::Deadline(1),
        ("~", "reads") => Step::Reads(usize::MAX),
        ("~", _) => match rest.strip_prefix("reads ") {
            Some(bytes) => Step::Reads(bytes.parse().ok()?),
            None => Step::Time(rest.strip_suffix(" ms")?.parse().ok()?),
        },
        _ => return None,
    })
}

/// Formats bytes as text: bytes other than printable ASCII become escapes such as `\xff`.
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\\' if bytes.get(at + 1) == Some(&b'x') => text.push_str("\\x5c"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.strip_prefix(b"x").filter(|_| *first == b'\\').and_then(|tail| tail.get(..2));
        let hex = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { &tail[3..] } else { tail };
    }
    bytes
}
