//! Generates dialogues: changed transcripts, parts of two transcripts, and parts of many.

use crate::dialogue::{Dialogue, Step};
use crate::json::Node;
use crate::mutate::{change_ids, change_setup, change_value, join_batch, reuse_ids};
use crate::random::Random;
use crate::vocabulary::*;

/// The material of generated dialogues.
pub struct Parts {
    transcripts: Vec<Dialogue>,
    server: Role,
    client: Role,
}

/// Setups, lines and commands of all transcripts with one role.
#[derive(Default)]
struct Role {
    setups: Vec<String>,
    lines: Vec<Vec<u8>>,
    commands: Vec<String>,
}

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

    /// Generates a dialogue.
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

    /// Interleaves the steps of two dialogues with the same setup.
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
            change_ids(&mut dialogue.steps, opening, random);
        }
        for _ in 0..random.below(4) {
            self.change(&mut dialogue, random);
        }
        dialogue
    }

    /// Combines lines and commands of many transcripts, with ids that often match.
    fn composed(&self, random: &mut Random) -> Dialogue {
        let is_server = random.percent(55);
        let role = self.role(is_server);
        let Some(setup) = random.pick_in(&role.setups) else { return Dialogue::default() };
        let mut dialogue = Dialogue::open("composed", setup);
        if random.percent(70) {
            let revision = REVISIONS[random.below(5)];
            Dialogue::set(&mut dialogue.setup, "session", Some(revision));
            // A stateless server has no session to open.
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
                    reuse_ids(&mut node, is_server, random);
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

    /// Changes one line, step, command or time.
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
            11 => change_ids(&mut dialogue.steps, 0, random),
            12 => join_batch(&mut dialogue.steps, &lines, random),
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
                // Split a line into two pieces with a step between them.
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
                    reuse_ids(&mut node, is_server, random);
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

/// Returns random transport options.
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

/// Transport options for unchanged transcripts. Each transcript is played with every entry.
pub const TRANSPORT_OPTIONS: [&str; 15] = [
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

/// Returns dialogues that send the bytes of a fuzz input: one to a server, one to a client.
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
