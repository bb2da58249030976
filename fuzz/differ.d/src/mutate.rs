//! Random changes of messages, of their ids, and of a dialogue's setup.

use crate::dialogue::{Dialogue, Step};
use crate::json::Node;
use crate::random::Random;
use crate::vocabulary::{IDS, NAMES, VALUES};

/// Replaces the ids of a message by ids that other messages may have.
pub fn reuse_ids(node: &mut Node, is_server: bool, random: &mut Random) {
    let is_response = node.has("result") || node.has("error");
    // The id of a request of the machine, counted back from the last one. Recent requests are more likely.
    let own = |random: &mut Random| format!("@{{{}}}", [0, 0, 0, 1, 1, 2, 3][random.below(7)]);
    node.members(0, &mut |name, depth, value| {
        let id = match (name, depth) {
            ("id", 0) if is_response => own(random),
            ("id", 0) | ("requestId", _) => random.pick(&IDS).to_owned(),
            ("progressToken", _) if is_server => random.pick(&IDS).to_owned(),
            ("progressToken" | "io.modelcontextprotocol/subscriptionId", _) => own(random),
            _ => return,
        };
        *value = Node::Leaf(id);
    });
}

/// Changes the form of all ids in the steps from `from` on.
pub fn change_ids(steps: &mut [Step], from: usize, random: &mut Random) {
    let kind = random.below(5);
    for step in steps.iter_mut().skip(from) {
        let Step::Line(line) = step else { continue };
        let Some(mut node) = Node::parse(line) else { continue };
        node.members(0, &mut |name, _, value| {
            if let Node::Leaf(text) = value
                && matches!(name, "id" | "requestId" | "progressToken")
                && !text.starts_with('@')
            {
                let plain = text.trim_matches('"').to_owned();
                *text = match kind {
                    0 => format!("\"{plain}\""),
                    1 => plain,
                    2 => format!("\"{plain}{}\"", "x".repeat(40)),
                    3 => format!("-{plain}"),
                    _ => format!("\"\\u0069{plain}\\n\""),
                };
            }
        });
        *line = node.to_bytes();
    }
}

/// Joins consecutive lines to a batch.
pub fn join_batch(steps: &mut Vec<Step>, lines: &[usize], random: &mut Random) {
    if lines.len() < 2 {
        return;
    }
    let first = random.below(lines.len() - 1);
    let count = 2 + random.below(3).min(lines.len() - first - 2);
    let members: Vec<Vec<u8>> = lines[first..first + count]
        .iter()
        .filter_map(|at| if let Step::Line(line) = &steps[*at] { Some(line.clone()) } else { None })
        .collect();
    for at in lines[first + 1..first + count].iter().rev() {
        steps.remove(*at);
    }
    steps[lines[first]] = Step::Line([b"[", &members.join(&b',')[..], b"]"].concat());
}

/// Makes a random change of a random value.
pub fn change_value(node: &mut Node, random: &mut Random) {
    let count = node.count();
    let copy = node.find(random.below(count)).cloned();
    let Some(node) = node.find(random.below(count)) else { return };
    match (node, random.below(9)) {
        (Node::Array(items), 0) if !items.is_empty() => drop(items.remove(random.below(items.len()))),
        (Node::Object(members), 0) if !members.is_empty() => {
            drop(members.remove(random.below(members.len())))
        }
        (Node::Array(items), 1) if !items.is_empty() => items.push(items[random.below(items.len())].clone()),
        (Node::Object(members), 1) if !members.is_empty() => {
            members.push(members[random.below(members.len())].clone());
        }
        (Node::Object(members), 2) if !members.is_empty() => {
            let (one, other) = (random.below(members.len()), random.below(members.len()));
            members.swap(one, other);
        }
        (Node::Object(members), 3) if !members.is_empty() => {
            let at = random.below(members.len());
            members[at].0 = format!("\"{}\"", random.pick(&NAMES));
        }
        (node, 4) => *node = copy.unwrap_or(Node::Array(Vec::new())),
        (node, 5) => *node = Node::Array(vec![node.clone()]),
        (node, 6) => {
            let levels = random.below(80);
            *node = (0..levels).fold(node.clone(), |inner, _| Node::Array(vec![inner]));
        }
        (Node::Leaf(text), 7) if text.starts_with('"') && text.len() > 1 && !text.contains('\\') => {
            let units = text[1..text.len() - 1].encode_utf16();
            *text = format!("\"{}\"", units.map(|unit| format!("\\u{unit:04x}")).collect::<String>());
        }
        (node, _) => *node = Node::Leaf(random.pick(&VALUES).to_owned()),
    }
}

/// Sets random words of the setup in 40 percent of the dialogues.
pub fn change_setup(dialogue: &mut Dialogue, random: &mut Random) {
    let is_server = dialogue.is_server();
    if random.percent(60) {
        return;
    }
    for _ in 0..1 + random.below(3) {
        let (name, values): (&str, &[&str]) = match random.below(if is_server { 17 } else { 15 }) {
            0 | 1 => ("slots", &["1", "2", "3", "4", "17", "40"]),
            2 => ("line", &["200", "256", "300", "512", "1024"]),
            3 => ("answer", &["900", "1024", "1200", "2048", "8192"]),
            4 => ("depth", &["4", "6", "20", "128"]),
            5 => ("grace", &["0", "1", "50"]),
            6 => ("ping", &["20", "100", "5000"]),
            7 => ("tolerant", &[""]),
            8 => ("revisions", &["handshake", "stateless", "2025-03-26", "2024-11-05,2026-07-28"]),
            9 => ("asked", if is_server { &["10", "50"] } else { &["decline", "forget", "later", "later"] }),
            10 if is_server => ("id", &["8", "16", "40", "200"]),
            11 if is_server => ("batches", &["0", "200", "500"]),
            12 if is_server => ("watches", &["0", "20", "40"]),
            13 if is_server => ("deferred", &["0", "10", "50"]),
            14 if is_server => ("strict", &[""]),
            15 => ("restart", &[""]),
            16 => ("offers", &["tools", "structured", "nothing", "listed", "listed"]),
            10 => ("request", &["10", "50", "100"]),
            11 => ("maximum", &["20", "60"]),
            12 => ("rounds", &["1", "2"]),
            13 => ("pages", &["1", "2"]),
            _ => ("declares", &["roots,form", "roots,roots-changed,sampling,sampling-tools,form,url", "url"]),
        };
        Dialogue::set(&mut dialogue.setup, name, Some(random.pick(values)));
    }
}
