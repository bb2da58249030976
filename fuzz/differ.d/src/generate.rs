//! Generated dialogues: transcripts with changes, parts of two transcripts, and parts of many.

use crate::dialogue::{Dialogue, Step};
use crate::json::Node;
use crate::random::Random;

/// What generated dialogues are made of.
pub struct Parts {
    transcripts: Vec<Dialogue>,
    server: Role,
    client: Role,
}

/// What is said and done in all transcripts with one role.
#[derive(Default)]
struct Role {
    setups: Vec<String>,
    lines: Vec<Vec<u8>>,
    commands: Vec<String>,
}

const REVISIONS: [&str; 6] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2030-01-01"];
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
    r#""\ud83d\ude00""#,
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
/// Few ids, so that messages meet.
const IDS: [&str; 9] = [
    "1",
    "2",
    "3",
    "\"a\"",
    "\"b\\u0063\"",
    "-1",
    "0",
    "12345678901234567",
    "\"abcdefghijklmnopqrstuvwxyz\"",
];
const WIDTHS: [&str; 12] = ["1", "2", "3", "4", "5", "7", "8", "13", "16", "31", "64", "200"];
const SERVER_COMMANDS: [&str; 17] = [
    "answer",
    "error",
    "forget",
    "fail",
    "busy",
    "invalid",
    "not-found",
    "structured",
    "values",
    "messages",
    "contents",
    "needs",
    "broken",
    "progress",
    "log-for",
    "end",
    "take-back",
];
const OWN_SERVER_COMMANDS: [&str; 22] = [
    "ask form",
    "ask roots",
    "ask model",
    "ask model-with-tools",
    "ask url",
    "ask ping",
    "ask raw",
    "ask form 50 ms",
    "ask ping 9 ms",
    "ask form progress",
    "ask roots during 0",
    "ask form during 1",
    "changed tools",
    "changed prompts",
    "changed resources",
    "changed note:one",
    "changed note:two",
    "log error text",
    "log debug text",
    "opened e1",
    "shutdown",
    "shutdown 50 ms",
];
const OWN_CLIENT_COMMANDS: [&str; 34] = [
    "call one",
    "call one {\"a\":1}",
    "{progress} call two",
    "{50 ms} call three",
    "{50 ms, progress} call one",
    "{meta} call two",
    "{50 ms, progress, fixed} call two",
    "list tools",
    "list resources",
    "list templates",
    "list prompts",
    "read note:one",
    "get greet Ada",
    "complete greet k",
    "subscribe note:one",
    "unsubscribe note:one",
    "level info",
    "ping",
    "{20 ms} ping",
    "request example/own",
    "listen tools note:one",
    "listen prompts resources",
    "resume one accept",
    "resume one decline",
    "cancel one why",
    "cancel two",
    "cancel note:one",
    "roots-changed",
    "notify example/own",
    "reply accept 0",
    "reply decline 1",
    "reply progress 0",
    "reply error 0",
    "shutdown",
];
/// Messages of a client that leave much to the application. `META` is what a request of the stateless era carries.
const OWN_SERVER_LINES: [&str; 12] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"later","arguments":{},"_meta":{META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"later","arguments":{"ms":20},"_meta":{META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"later","arguments":{"ms":50},"_meta":{"progressToken":1,META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{META,"progressToken":"t"},"arguments":{"ms":50},"name":"later"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{},"_meta":{"progressToken":1,META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1,"b"]},"_meta":{META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note:later","_meta":{META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"greet","arguments":{"who":"later"},"_meta":{"progressToken":1,META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"note:{name}"},"argument":{"name":"name","value":"later"},"_meta":{META}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["note:one"]},"_meta":{META}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}}"#,
];
const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}},"io.modelcontextprotocol/logLevel":"debug""#;
/// Messages of a server that say something about the client's requests.
const OWN_CLIENT_LINES: [&str; 8] = [
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"t"}]}}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"uri":"u"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5,"total":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2,"message":"m","progressToken":1}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":{"progressToken":4}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":9}}"#,
];
const EVENTS: [&str; 18] = [
    "deadline",
    "before deadline",
    "deadline",
    "before deadline",
    "1 ms",
    "10 ms",
    "49 ms",
    "50 ms",
    "100 ms",
    "60000 ms",
    "reads 0",
    "reads 40",
    "reads",
    "reads",
    "again",
    "end",
    "breaks",
    "gone",
];

impl Parts {
    pub fn new(transcripts: Vec<Dialogue>) -> Parts {
        let (mut server, mut client) = (Role::default(), Role::default());
        for dialogue in &transcripts {
            let role = if dialogue.is_server() { &mut server } else { &mut client };
            if dialogue.setup.contains("session=") && !role.setups.contains(&dialogue.setup) {
                role.setups.push(dialogue.setup.clone());
            }
            for step in &dialogue.steps {
                match step {
                    Step::Line(line)
                        if line.len() < 3000 && Node::parse(line).is_some() && !role.lines.contains(line) =>
                    {
                        role.lines.push(line.clone());
                    }
                    Step::Command(command) if !role.commands.contains(command) => {
                        role.commands.push(command.clone())
                    }
                    _ => {}
                }
            }
        }
        server.commands.extend(OWN_SERVER_COMMANDS.map(str::to_owned));
        client.commands.extend(OWN_CLIENT_COMMANDS.map(str::to_owned));
        Parts { transcripts, server, client }
    }

    fn role(&self, is_server: bool) -> &Role {
        if is_server { &self.server } else { &self.client }
    }

    /// A dialogue.
    pub fn dialogue(&self, random: &mut Random) -> Dialogue {
        let mut dialogue = match random.below(10) {
            0..5 => self.changed(random),
            5 => self.spliced(random),
            _ => self.composed(random),
        };
        change_setup(&mut dialogue, random);
        dialogue.options = options(random);
        dialogue
    }

    fn transcript(&self, random: &mut Random) -> &Dialogue {
        &self.transcripts[random.below(self.transcripts.len())]
    }

    fn changed(&self, random: &mut Random) -> Dialogue {
        let mut dialogue = self.transcript(random).clone();
        for _ in 0..random.below(8) {
            self.change(&mut dialogue, random);
        }
        dialogue
    }

    /// The steps of two dialogues of the same kind, one into the other.
    fn spliced(&self, random: &mut Random) -> Dialogue {
        let mut dialogue = self.transcript(random).clone();
        let opening = Dialogue::open("", &dialogue.setup).steps.len();
        let same: Vec<&Dialogue> = self.transcripts.iter().filter(|it| it.setup == dialogue.setup).collect();
        let Some(other) = random.pick_in(&same) else { return dialogue };
        let mut at = opening.min(dialogue.steps.len());
        for step in other.steps.iter().skip(opening) {
            at = (at + random.below(3)).min(dialogue.steps.len());
            dialogue.steps.insert(at, step.clone());
            at += 1;
        }
        if random.percent(50) {
            number_anew(&mut dialogue.steps, opening, random);
        }
        for _ in 0..random.below(4) {
            self.change(&mut dialogue, random);
        }
        dialogue
    }

    /// Lines and commands of many transcripts, with ids that fit often.
    fn composed(&self, random: &mut Random) -> Dialogue {
        let is_server = random.percent(55);
        let role = self.role(is_server);
        let Some(setup) = random.pick_in(&role.setups) else { return Dialogue::default() };
        let mut dialogue = Dialogue::open("composed", setup);
        if random.percent(70) {
            let revision = REVISIONS[random.below(5)];
            Dialogue::set(&mut dialogue.setup, "session", Some(revision));
            // In the stateless era nothing opens a session of a server.
            dialogue = match (is_server, revision) {
                (true, "2026-07-28") => {
                    Dialogue::set(&mut dialogue.setup, "session", None);
                    Dialogue::open("composed", &dialogue.setup)
                }
                _ => Dialogue::open("composed", &dialogue.setup),
            };
        }
        if !is_server && random.percent(40) {
            Dialogue::set(&mut dialogue.setup, "asked", Some("later"));
            Dialogue::set(&mut dialogue.setup, "declares", Some("roots,sampling,form,url"));
        }
        let stateless = is_server && !dialogue.setup.contains("session=");
        for _ in 0..4 + random.below(20) {
            let step = match random.below(10) {
                0..5 => {
                    let own = if is_server {
                        random.pick(&OWN_SERVER_LINES)
                    } else {
                        random.pick(&OWN_CLIENT_LINES)
                    };
                    let own = if stateless {
                        own.replace("META", META).into_bytes()
                    } else {
                        own.replace(",META", "").replace("META,", "").replace("META", "").into_bytes()
                    };
                    let line = if random.percent(40) { Some(&own) } else { random.pick_in(&role.lines) };
                    let Some(line) = line else { continue };
                    let is_meant = line.windows(10).any(|part| part == b"2026-07-28") || !stateless;
                    if !is_meant && random.percent(70) {
                        continue;
                    }
                    let Some(mut node) = Node::parse(line) else { continue };
                    fit(&mut node, is_server, random);
                    Step::Line(node.to_bytes())
                }
                5..9 => self.command(is_server, random),
                _ => Step::Event(random.pick(&EVENTS).to_owned()),
            };
            dialogue.steps.push(step);
        }
        if random.percent(10) {
            self.change(&mut dialogue, random);
        }
        dialogue
    }

    fn command(&self, is_server: bool, random: &mut Random) -> Step {
        if is_server && random.percent(60) {
            let (word, number) = (random.pick(&SERVER_COMMANDS), random.below(4));
            let rest = match word {
                "progress" => ["1", "2", "0.5", "1e2", "1"][random.below(5)],
                "needs" => ["form", "roots", "url", "model"][random.below(4)],
                _ => "done",
            };
            return Step::Command(format!("{word} {number} {rest}"));
        }
        let commands = &self.role(is_server).commands;
        Step::Command(random.pick_in(commands).cloned().unwrap_or_default())
    }

    /// Makes one change.
    fn change(&self, dialogue: &mut Dialogue, random: &mut Random) {
        let is_server = dialogue.is_server();
        let length = dialogue.steps.len();
        if length == 0 {
            return;
        }
        let (one, other) = (random.below(length), random.below(length));
        let lines: Vec<usize> =
            (0..length).filter(|at| matches!(dialogue.steps[*at], Step::Line(_))).collect();
        let line = random.pick_in(&lines).copied();
        match random.below(22) {
            0 => dialogue.steps.swap(one, other),
            1 | 2 => dialogue.steps.insert(other, dialogue.steps[one].clone()),
            3 => drop(dialogue.steps.remove(one)),
            4 => {
                let steps =
                    self.transcripts.iter().filter(|it| it.is_server() == is_server).collect::<Vec<_>>();
                let steps = &steps[random.below(steps.len())].steps;
                dialogue
                    .steps
                    .insert(one, steps[random.below(steps.len().max(1)).min(steps.len() - 1)].clone());
            }
            5 | 6 => dialogue.steps.insert(one + 1, self.command(is_server, random)),
            7..10 => dialogue.steps.insert(one + 1, Step::Event(random.pick(&EVENTS).to_owned())),
            10 => {
                let (from, to) = (random.pick(&REVISIONS), random.pick(&REVISIONS));
                for step in &mut dialogue.steps {
                    if let Step::Line(line) = step
                        && let Ok(text) = str::from_utf8(line)
                    {
                        *line = text.replace(from, to).into_bytes();
                    }
                }
            }
            11 => number_anew(&mut dialogue.steps, 0, random),
            12 => batch(&mut dialogue.steps, &lines, random),
            13 => {
                if let Some(Step::Line(bytes)) = line.map(|at| &mut dialogue.steps[at]) {
                    bytes.truncate(random.below(bytes.len() + 1));
                }
            }
            14 => {
                if let Some(Step::Line(bytes)) = line.map(|at| &mut dialogue.steps[at])
                    && !bytes.is_empty()
                {
                    let at = random.below(bytes.len());
                    bytes[at] = random.below(256) as u8;
                }
            }
            15 => {
                // Two pieces of a line, and something between them.
                if let Some(at) = line
                    && let Step::Line(bytes) = dialogue.steps[at].clone()
                {
                    let (head, tail) = bytes.split_at(random.below(bytes.len() + 1));
                    let between = Step::Event(random.pick(&EVENTS).to_owned());
                    dialogue
                        .steps
                        .splice(at..=at, [Step::Bytes(head.to_vec()), between, Step::Line(tail.to_vec())]);
                }
            }
            16 => {
                let role = self.role(is_server);
                if let Some(mut node) = random.pick_in(&role.lines).and_then(|line| Node::parse(line)) {
                    fit(&mut node, is_server, random);
                    dialogue.steps.insert(one + 1, Step::Line(node.to_bytes()));
                }
            }
            _ => {
                if let Some(Step::Line(bytes)) = line.map(|at| &mut dialogue.steps[at])
                    && let Some(mut node) = Node::parse(bytes)
                {
                    change_value(&mut node, random);
                    *bytes = node.to_bytes();
                }
            }
        }
    }
}

/// Gives a message ids that others have, too.
fn fit(node: &mut Node, is_server: bool, random: &mut Random) {
    let is_response = node.has("result") || node.has("error");
    // The machine's own requests: the last one most often.
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

/// Gives messages other ids.
fn number_anew(steps: &mut [Step], from: usize, random: &mut Random) {
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

/// Makes a batch of lines that follow each other.
fn batch(steps: &mut Vec<Step>, lines: &[usize], random: &mut Random) {
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

fn change_value(node: &mut Node, random: &mut Random) {
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

/// Other limits and times.
fn change_setup(dialogue: &mut Dialogue, random: &mut Random) {
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

/// How bytes move, and what else makes no difference to a peer.
fn options(random: &mut Random) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = |is: bool, word: String| words.extend(is.then_some(word));
    let (read, write) = (random.pick(&WIDTHS), random.pick(&WIDTHS));
    word(random.percent(40), format!("read={read}"));
    word(random.percent(40), format!("write={write}"));
    word(random.percent(30), "reads-first".into());
    word(random.percent(35), "ahead".into());
    word(random.percent(25), "both".into());
    word(random.percent(40), format!("lent text={}", random.pick(&["64", "100", "256", "512"])));
    word(random.percent(25), "observe".into());
    word(random.percent(15), "seed=7".into());
    word(random.percent(10), format!("room={}", random.pick(&["900", "1024", "2000"])));
    if random.percent(15) {
        words.push("messages".into());
        words.extend(random.percent(50).then(|| "parsed".into()));
        words.extend(random.percent(60).then(|| format!("streams={}", 1 + random.below(3))));
    }
    words.join(" ")
}

/// In how many ways each transcript is played as it is.
pub const WAYS: [&str; 15] = [
    "",
    "ahead",
    "read=1 write=1",
    "read=7 write=3 reads-first",
    "both ahead write=9",
    "lent",
    "lent ahead",
    "lent ahead read=5 write=2 reads-first",
    "observe",
    "observe ahead lent read=16",
    "messages",
    "messages parsed streams=2",
    "messages lent ahead streams=3 write=5",
    "seed=99 ahead write=1",
    "room=1024 ahead reads-first",
];

/// Dialogues of raw lines, as fuzz inputs have them: with a server and with a client, in whole and in pieces.
pub fn raw(name: &str, bytes: &[u8], random: &mut Random) -> Vec<Dialogue> {
    let setups =
        ["server session=2025-11-25", "server", "server session=2025-03-26", "client session=2025-11-25"];
    let setups = [setups[random.below(3)], setups[3]];
    let open = |setup: &str| {
        let mut dialogue = Dialogue::open(name, setup);
        if !dialogue.is_server() {
            dialogue.steps.push(Step::Command("call one".into()));
        }
        dialogue.steps.push(Step::Line(bytes.to_vec()));
        dialogue.options = options(random);
        dialogue
    };
    setups.map(open).into()
}
