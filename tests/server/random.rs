//! Random connections: however bytes are cut, the same is said and heard, and every request is answered once.

use crate::common::library::EVERYTHING;
use crate::common::{Host, Way};
use mcp_proto::json::Json;
use mcp_proto::server::{Server, Slot};
use mcp_proto::{Buffer, Millis, Pings};
use std::collections::BTreeMap;

/// A linear congruential generator: the same numbers every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

enum Step {
    Bytes(Vec<u8>),
    Command(String),
}

const TOOLS: [&str; 18] = [
    "echo",
    "who",
    "pieces",
    "typed",
    "invalid",
    "fail",
    "error",
    "unknown",
    "drop",
    "defer",
    "defer",
    "defer",
    "progress",
    "log",
    "object",
    "unbalanced",
    "change",
    "nobody",
];

/// A well-formed request with this id, of either era.
fn request(random: &mut Random, id: &str) -> String {
    let mut meta = String::new();
    if random.below(3) == 0 {
        meta += r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"#;
        meta += random.pick(&["", r#""io.modelcontextprotocol/logLevel":"info","#]);
    }
    meta += random.pick(&["\"x\":1", "\"progressToken\":\"t\"", "\"progressToken\":7"]);
    let tool = random.pick(&TOOLS);
    let arguments =
        random.pick(&["{}", "{\"n\":[1,{}]}", "{\"text\":\"\\u00e9\",\"count\":7}", "[]", "{\"ms\":50}"]);
    let method = random.pick(&[
        "tools/call",
        "tools/call",
        "tools/call",
        "tools/list",
        "ping",
        "no/such",
        "logging/setLevel",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "subscriptions/listen",
        "resources/subscribe",
        "resources/unsubscribe",
    ]);
    let uri =
        random.pick(&["lib:log", "lib:book\\/7", "lib:book/defer", "lib:book/drop", "lib:a/%41?", "none:"]);
    let reference = random.pick(&[
        r#"{"type":"ref/prompt","name":"review"}"#,
        r#"{"type":"ref/resource","uri":"lib:book/{id}"}"#,
        "{}",
    ]);
    let argument = random.pick(&["style", "book", "id"]);
    let params = format!(
        r#"{{"name":"{tool}","notifications":{{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["lib:log"]}},"uri":"{uri}","ref":{reference},"argument":{{"name":"{argument}","value":"10"}},"arguments":{arguments},"level":"info","_meta":{{{meta}}}}}"#
    );
    match random.below(3) {
        0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
        1 => format!(r#"{{"params":{params},"method":"{method}","id":{id},"jsonrpc":"2.0"}}"#),
        _ => format!(r#" {{ "id" : {id} , "method":"{method}", "jsonrpc":"2.0" ,"params" : {params}}} "#),
    }
}

/// An answer to what the server may have asked, or what was meant as one.
fn answer(random: &mut Random) -> String {
    let id = random.below(16);
    let id = if random.below(4) == 0 { format!("\"{id}\"") } else { id.to_string() };
    match random.below(6) {
        0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":""}}}}"#),
        1 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[]}}"#),
        2 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":7}}"#),
        _ => {
            let filler = "x".repeat(random.below(900));
            format!(r#"{{"jsonrpc":"2.0","result":{{"x":"{filler}"}},"id":{id}}}"#)
        }
    }
}

/// Several messages in one line.
fn batch(random: &mut Random, nth: usize) -> String {
    let members: Vec<String> = (0..1 + random.below(4))
        .map(|member| match random.below(6) {
            0 => random.pick(&["1", "[]", "{}"]).into(),
            2 => answer(random),
            1 => {
                let target = random.below(nth + 1);
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"mmm{target}"}}}}"#
                )
            }
            _ => request(random, &format!("\"mmm{}\"", nth + member)),
        })
        .collect();
    format!("[{}]", members.join(","))
}

/// What a client may send that is no well-formed request. Ids begin with another letter.
fn other(random: &mut Random, nth: usize) -> Vec<u8> {
    let id = format!("\"mmm{nth}\"");
    let fixed = [
        "",
        " \t",
        "\u{feff}",
        "\u{feff}\u{feff}",
        "\u{feff}[]",
        "nonsense",
        "[]",
        "{}",
        "null",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"ping-1","result":{}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1}}"#,
        r#"{"jsonrpc":"2.0","method":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
    ];
    match random.below(9) {
        7 | 8 => batch(random, nth).into_bytes(),
        6 => {
            let (id, progress) = (random.below(16), r#""jsonrpc":"2.0","method":"notifications/progress""#);
            match random.below(5) {
                0 => format!(r#"{{{progress},"params":{{"progressToken":{id},"progress":1}}}}"#),
                _ => answer(random),
            }
            .into_bytes()
        }
        0 => {
            let target = random.below(nth + 1);
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"rrr{target}"}}}}"#).into_bytes()
        }
        1 => {
            let mut line = request(random, &id).into_bytes();
            let at = random.below(line.len());
            line[at] = random.below(256) as u8;
            line
        }
        2 => {
            let line = request(random, &id);
            line.as_bytes()[..random.below(line.len())].to_vec()
        }
        3 => {
            let (filler, depth) = ("x".repeat(random.below(2000)), random.below(200));
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            let line = match random.below(3) {
                0 => format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"x":"{filler}","y":{deep}}}}}"#
                ),
                1 => format!(
                    r#"{{"params":{{"x":"{filler}","y":{deep}}},"id":{id},"method":"ping","jsonrpc":"2.0"}}"#
                ),
                _ => format!(
                    r#"{{"params":{{"id":{id},"x":"{filler}","y":{deep}}},"method":"x","jsonrpc":"2.0"}}"#
                ),
            };
            line.into_bytes()
        }
        _ => random.pick(&fixed).as_bytes().to_vec(),
    }
}

fn steps(random: &mut Random) -> (Vec<Step>, usize) {
    let (mut steps, mut requests, mut time) = (Vec::new(), 0, 0);
    let open = format!(
        r#"{{"jsonrpc":"2.0","id":"open","method":"initialize","params":{}}}"#,
        crate::common::hello(random.pick(&["2025-11-25", "2025-03-26"]))
    );
    steps.push(Step::Bytes((open + "\n").into_bytes()));
    for _ in 0..60 {
        match random.below(8) {
            0..=2 => {
                let id = format!("\"rrr{requests}\"");
                requests += 1;
                steps.push(Step::Bytes((request(random, &id) + random.pick(&["\n", "\r\n"])).into_bytes()));
            }
            3..=5 => {
                let mut line = other(random, requests);
                line.retain(|byte| *byte != b'\n');
                line.push(b'\n');
                steps.push(Step::Bytes(line));
            }
            6 => {
                let ticket = random.below(6);
                let word = random.pick(&["answer", "answer", "fail", "progress", "log-to"]);
                let rest = if word == "progress" { "2 x" } else { "error x" };
                steps.push(Step::Command(format!("{word} {ticket} {rest}")));
            }
            _ => {
                time += random.below(100);
                steps.push(Step::Command(match random.below(8) {
                    0 => format!("changed {}", random.pick(&["", "resources", "prompts"])),
                    6 => "updated lib:log".into(),
                    7 => format!("end {}", random.below(6)),
                    1 => "log error x".into(),
                    2 | 3 => format!("ask ping {}", random.pick(&["progress", "ms 60", "ms 500"])),
                    4 => format!("cancel {} x", random.below(5)),
                    _ => format!("time {time}"),
                }));
            }
        }
    }
    (steps, requests)
}

/// Runs the steps and ends the connection: what was said and heard.
fn run(steps: &[Step], way: Way, tx: usize, room: usize) -> (String, Vec<String>) {
    let (mut rx, mut lent) = (vec![0; way.rx], vec![0; tx]);
    let (mut slots, mut text) = ([Slot::EMPTY; 3], [0; 60]);
    let tx = if way.grown { Buffer::grown(tx) } else { lent.as_mut_slice().into() };
    let server = Server::new(&EVERYTHING, way.rx(&mut rx), tx).unwrap().reply_room(room).unwrap();
    let server = server.keep_alive(Pings { interval: Millis(70), timeout: Millis(30), close: false });
    let (mut batches, mut watched) = ([0; 2500], [0; 60]);
    let server = server.batches(&mut batches).watches(&mut watched[..]);
    let mut host = Host::new(server.in_flight(&mut slots, &mut text).unwrap(), way);
    let mut cancelled = 0;
    for step in steps {
        match step {
            Step::Bytes(bytes) => host.pending.extend_from_slice(bytes),
            Step::Command(command) => {
                host.run();
                // Commands about tickets that were never given out are for nobody.
                let ticket = command.split(' ').nth(1).and_then(|word| word.parse::<usize>().ok());
                let cancels = command.starts_with("cancel");
                let given = if cancels { host.notes.asked.len() } else { host.notes.tickets.len() };
                let known = ticket.is_none_or(|ticket| ticket < given);
                if known || command.starts_with("time") {
                    let before = host.notes.events.len();
                    host.command(command);
                    cancelled += usize::from(cancels && host.notes.events.len() == before);
                }
            }
        }
    }
    host.run();
    host.command("eof");
    host.run();
    host.now = host.now.plus(Millis::seconds(2));
    host.run();
    assert!(host.closed);
    // What was asked ends once: the host hears of it, or has cancelled it.
    let ended = host.notes.events.iter().filter(|event| event.starts_with("answered")).count();
    assert_eq!(ended + cancelled, host.notes.asked.len(), "{:#?}", host.notes.events);
    (String::from_utf8(host.output).expect("output is UTF-8"), host.notes.events)
}

fn check(seed: u64, rxs: &[usize]) {
    let mut random = Random(seed);
    let (steps, requests) = steps(&mut random);
    let (tx, room) = [(4096, 4096), (4096, 2000), (1100, 1000), (1500, 700)][random.below(4)];
    let mut first: Option<(String, Vec<String>)> = None;
    for rx in rxs {
        for (read, write, reads_first) in [
            (usize::MAX, usize::MAX, false),
            (1, usize::MAX, true),
            (5, 1, true),
            (1000, 3, false),
            (13, 50, true),
        ] {
            let way = Way { rx: *rx, grown: false, read, write, reads_first };
            for way in [way, Way { grown: true, ..way }] {
                let heard = run(&steps, way, tx, room);
                let first = first.get_or_insert_with(|| heard.clone());
                let lines = |heard: &(String, Vec<String>)| -> Vec<String> {
                    heard.0.lines().map(String::from).chain(heard.1.iter().cloned()).collect()
                };
                let (before, after) = (lines(first), lines(&heard));
                let differs = before.iter().zip(&after).position(|(before, after)| before != after);
                let shown = differs.map(|at| (&before[at], &after[at]));
                assert!(*first == heard, "seed {seed}, {way:?}: {shown:#?} in {before:#?}");
            }
        }
    }
    let (output, events) = first.expect("it ran");
    let mut answers = BTreeMap::new();
    for line in output.lines() {
        let message =
            Json::parse(line.as_bytes()).unwrap_or_else(|error| panic!("seed {seed}: {error}: {line}"));
        if let Some(id) = message.get("id").filter(|_| message.get("method").is_none()) {
            *answers.entry(id.raw().to_string()).or_insert(0) += 1;
        }
    }
    let count = |nth: usize| answers.get(&format!("\"rrr{nth}\"")).copied().unwrap_or(0);
    let cancelled = events.iter().filter(|event| event.starts_with("cancelled")).count();
    assert!((0..requests).all(|nth| count(nth) <= 1), "seed {seed}: {output}");
    let unanswered = (0..requests).filter(|nth| count(*nth) == 0).count();
    // Members of batches are cancelled, too.
    let batches = output.contains("\"protocolVersion\":\"2025-03-26\"");
    let all = if batches { unanswered <= cancelled } else { unanswered == cancelled };
    assert!(all, "seed {seed}: {output}\n{events:#?}");
}

#[test]
fn a_random_connection_is_the_same_however_bytes_move() {
    for seed in 0..40 {
        check(seed, &[5000, 5001, 20_000]);
    }
}

#[test]
fn a_random_connection_is_the_same_in_a_small_buffer_too() {
    for seed in 1000..1080 {
        check(seed, &[128 + (seed as usize * 37) % 600]);
    }
}
