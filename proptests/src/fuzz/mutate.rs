//! Mutations of transcripts: of lines, JSON values, bytes and time.

use arbitrary::Arbitrary;
use mcp_proto::json::{Json, Kind};
use mcp_proto_transcripts::{Step, Transcript as Dialogue};

/// A change of the peer's lines, or of the time between them. An index beyond the last line or value wraps around.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Mutation {
    /// Swaps two lines.
    Swap(u8, u8),
    /// Copies the line at the first index, and inserts the copy after the line at the second index.
    Again(u8, u8),
    /// Removes a line.
    Leave(u8),
    /// Inserts a line of any transcript before the line at the first index. The other fields are the number of the
    /// source transcript (see [`chosen`]), and the index of the inserted line in the source.
    Foreign(u8, u16, u8),
    /// Replaces a line with a batch of this line and a copy of the next line.
    Batch(u8),
    /// Changes a value in a line.
    Value(u8, u8, Change),
    /// Replaces one revision with another everywhere.
    Revision(u8, u8),
    /// Changes all ids and progress tokens, for example their type or length.
    Ids(u8),
    /// Truncates a line.
    Cut(u8, u16),
    /// Replaces a byte of a line.
    Byte(u8, u16, u8),
    /// Lets time pass after a line, in milliseconds.
    Time(u8, u16),
}

/// A change of a value, or of a member.
///
/// The outermost value of a line has no container. `Leave`, `Twice`, `Swap` and `Rename` do not change this value.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Change {
    /// Removes the value.
    Leave,
    /// Appends a copy of the value to its container.
    Twice,
    /// Swaps the element or the whole member with the next one of its container.
    Swap,
    /// Replaces the value with one of [`VALUES`].
    Other(u8),
    /// Replaces the value with a copy of any value in the line.
    Copy(u8),
    /// Wraps the value in an array.
    Wrap,
    /// Nests the value in this many arrays, modulo 140.
    Deep(u8),
    /// Replaces the member's name with one of [`NAMES`]. Has no effect on an element of an array.
    Rename(u8),
    /// Escapes every character of a string, unless the string already has an escape.
    Escape,
}

const VALUES: [&str; 20] = [
    "null",
    "true",
    "0",
    "-0",
    "-1",
    "1",
    "7",
    "1.5",
    "1e3",
    "9007199254740993",
    "18446744073709551616",
    "\"\"",
    "\"1\"",
    "\"7\"",
    "[]",
    "{}",
    "\"\\ud83d\\ude00\"",
    "\"2026-07-28\"",
    "\"tools/call\"",
    "\"notifications/cancelled\"",
];
const NAMES: [&str; 14] = [
    "id",
    "method",
    "params",
    "result",
    "error",
    "jsonrpc",
    "_meta",
    "name",
    "arguments",
    "requestId",
    "progressToken",
    "cursor",
    "",
    "resultType",
];
const REVISIONS: [&str; 6] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2030-01-01"];

/// Applies a mutation to a transcript. [`Mutation::Foreign`] takes its line from one of the transcripts
/// in `all`.
pub(super) fn mutate(dialogue: &mut Dialogue, mutation: Mutation, all: &[Dialogue]) {
    let lines: Vec<usize> = (0..dialogue.steps.len()).filter(|at| is_line(&dialogue.steps[*at].1)).collect();
    let Some(last) = lines.len().checked_sub(1) else { return };
    let at = |line: u8| lines[usize::from(line) % (last + 1)];
    let steps = &mut dialogue.steps;
    match mutation {
        Mutation::Swap(one, other) => steps.swap(at(one), at(other)),
        Mutation::Again(line, behind) => steps.insert(at(behind) + 1, steps[at(line)].clone()),
        Mutation::Leave(line) => drop(steps.remove(at(line))),
        Mutation::Foreign(before, other, line) => {
            let other: Vec<_> = chosen(all, other).steps.iter().filter(|(_, step)| is_line(step)).collect();
            if !other.is_empty() {
                steps.insert(at(before), other[usize::from(line) % other.len()].clone());
            }
        }
        Mutation::Batch(first) => {
            let (first, second) = (at(first), at(first.wrapping_add(1)));
            let second = bytes(&mut steps[second].1).trim_ascii_end().to_vec();
            let line = bytes(&mut steps[first].1);
            *line = [b"[", line.trim_ascii_end(), b",", &second, b"]\n"].concat();
        }
        Mutation::Value(line, value, change) => {
            change_value(bytes(&mut steps[at(line)].1), usize::from(value), change);
        }
        Mutation::Revision(from, to) => {
            let [from, to] = [from, to].map(|revision| REVISIONS[usize::from(revision) % REVISIONS.len()]);
            for line in lines {
                replace(bytes(&mut steps[line].1), from, to);
            }
        }
        Mutation::Ids(kind) => {
            for line in lines {
                edit(bytes(&mut steps[line].1), |node| node.change_ids(kind));
            }
        }
        Mutation::Cut(line, length) => {
            let line = bytes(&mut steps[at(line)].1);
            line.truncate(usize::from(length) % (line.len() + 1));
            line.push(b'\n');
        }
        Mutation::Byte(line, place, byte) => {
            let line = bytes(&mut steps[at(line)].1);
            let place = usize::from(place) % line.len().max(1);
            line.iter_mut().skip(place).take(1).for_each(|it| *it = byte);
        }
        Mutation::Time(line, time) => steps.insert(at(line) + 1, (0, Step::Time(u64::from(time)))),
    }
}

/// Returns the transcript with the smallest number from `number` on. The numbers wrap around.
///
/// The number of a transcript depends only on its name, so most corpus inputs keep their meaning when transcripts are
/// added.
#[must_use]
pub(super) fn chosen(all: &[Dialogue], number: u16) -> &Dialogue {
    all.iter().min_by_key(|dialogue| number_of(dialogue).wrapping_sub(number)).expect("there are dialogues")
}

/// Returns the number of a transcript, derived from its name.
pub(super) fn number_of(dialogue: &Dialogue) -> u16 {
    let text = dialogue.title.bytes().chain(dialogue.file.bytes());
    text.fold(7u16, |hash, byte| hash.wrapping_mul(31).wrapping_add(u16::from(byte)))
}

fn is_line(step: &Step) -> bool {
    matches!(step, Step::In(_))
}

fn bytes(step: &mut Step) -> &mut Vec<u8> {
    let Step::In(bytes) = step else { unreachable!("only lines are counted") };
    bytes
}

fn replace(line: &mut Vec<u8>, from: &str, to: &str) {
    if let Ok(text) = str::from_utf8(line) {
        *line = text.replace(from, to).into_bytes();
    }
}

/// Changes a line as JSON. Leaves a line unchanged if it is not JSON.
fn edit(line: &mut Vec<u8>, change: impl FnOnce(&mut Node)) {
    let ended = line.ends_with(b"\n");
    let Ok(json) = Json::parse(line) else { return };
    let mut node = Node::from_json(json);
    change(&mut node);
    let mut text = String::new();
    node.write(&mut text);
    text.extend(ended.then_some('\n'));
    *line = text.into_bytes();
}

fn change_value(line: &mut Vec<u8>, number: usize, change: Change) {
    edit(line, |node| {
        let count = node.count();
        let copy = if let Change::Copy(from) = change {
            node.find(&mut (usize::from(from) % count)).cloned()
        } else {
            None
        };
        let mut number = number % count;
        if number == 0 {
            node.replace(change, copy);
        } else {
            number -= 1;
            node.change_part(&mut number, change, copy.as_ref());
        }
    });
}

/// A JSON value that preserves member order and duplicates.
#[derive(Debug, Clone)]
enum Node {
    Leaf(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    fn from_json(json: Json<'_>) -> Node {
        match json.kind() {
            Kind::Array => Node::Array(json.elements().map(Node::from_json).collect()),
            Kind::Object => Node::Object(
                json.members().map(|(name, value)| (name.to_string(), Node::from_json(value))).collect(),
            ),
            _ => Node::Leaf(json.raw().to_owned()),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Node::Leaf(text) => out.push_str(text),
            Node::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Node::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(&serde_json::to_string(name).expect("a string"));
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    fn parts(&self) -> Vec<&Node> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Array(items) => items.iter().collect(),
            Node::Object(members) => members.iter().map(|(_, value)| value).collect(),
        }
    }

    fn count(&self) -> usize {
        1 + self.parts().into_iter().map(Node::count).sum::<usize>()
    }

    /// Finds the value with this number in depth-first order. `self` has the number 0. Returns `None` if no value has
    /// the number.
    fn find(&self, number: &mut usize) -> Option<&Node> {
        if *number == 0 {
            return Some(self);
        }
        *number -= 1;
        self.parts().into_iter().find_map(|part| part.find(number))
    }

    /// Changes the part with this number. The order is that of `find`, but number 0 is the first part, because the
    /// value itself does not count. Returns `true` if the part was found.
    fn change_part(&mut self, number: &mut usize, change: Change, copy: Option<&Node>) -> bool {
        for at in 0..self.parts().len() {
            if *number == 0 {
                self.change_at(at, change, copy);
                return true;
            }
            *number -= 1;
            let part = match self {
                Node::Leaf(_) => return false,
                Node::Array(items) => &mut items[at],
                Node::Object(members) => &mut members[at].1,
            };
            if part.change_part(number, change, copy) {
                return true;
            }
        }
        false
    }

    fn change_at(&mut self, at: usize, change: Change, copy: Option<&Node>) {
        match (self, change) {
            (Node::Array(items), Change::Leave) => drop(items.remove(at)),
            (Node::Object(members), Change::Leave) => drop(members.remove(at)),
            (Node::Array(items), Change::Twice) => items.push(items[at].clone()),
            (Node::Object(members), Change::Twice) => members.push(members[at].clone()),
            (Node::Array(items), Change::Swap) => {
                let next = (at + 1) % items.len();
                items.swap(at, next);
            }
            (Node::Object(members), Change::Swap) => {
                let next = (at + 1) % members.len();
                members.swap(at, next);
            }
            (Node::Object(members), Change::Rename(name)) => {
                NAMES[usize::from(name) % NAMES.len()].clone_into(&mut members[at].0);
            }
            (Node::Array(items), change) => items[at].replace(change, copy.cloned()),
            (Node::Object(members), change) => members[at].1.replace(change, copy.cloned()),
            (Node::Leaf(_), _) => {}
        }
    }

    fn replace(&mut self, change: Change, copy: Option<Node>) {
        let old = std::mem::replace(self, Node::Array(Vec::new()));
        *self = match change {
            Change::Other(value) => Node::Leaf(VALUES[usize::from(value) % VALUES.len()].to_owned()),
            Change::Copy(_) => copy.unwrap_or(old),
            Change::Wrap => Node::Array(vec![old]),
            Change::Deep(levels) => (0..levels % 140).fold(old, |inner, _| Node::Array(vec![inner])),
            Change::Escape => match old {
                Node::Leaf(text) if text.starts_with('"') && !text.contains('\\') => {
                    let units = text[1..text.len() - 1].encode_utf16();
                    Node::Leaf(format!(
                        "\"{}\"",
                        units.map(|unit| format!("\\u{unit:04x}")).collect::<String>()
                    ))
                }
                old => old,
            },
            Change::Leave | Change::Twice | Change::Swap | Change::Rename(_) => old,
        };
    }

    fn change_ids(&mut self, kind: u8) {
        match self {
            Node::Leaf(_) => {}
            Node::Array(items) => items.iter_mut().for_each(|item| item.change_ids(kind)),
            Node::Object(members) => {
                for (name, value) in members {
                    match value {
                        Node::Leaf(text) if matches!(&**name, "id" | "requestId" | "progressToken") => {
                            let plain = text.trim_matches('"').to_owned();
                            *text = match kind % 5 {
                                0 => format!("\"{plain}\""),
                                1 => plain,
                                2 => format!("\"{plain}{}\"", "x".repeat(40)),
                                3 => format!("-{plain}"),
                                _ => format!("\"\\u0069{plain}\\n\""),
                            };
                        }
                        value => value.change_ids(kind),
                    }
                }
            }
        }
    }
}
