//! Compares two versions of the crate: plays dialogues through both, and reports the differences.

mod dialogue;
mod generate;
mod json;
mod mutate;
mod players;
mod random;
mod vocabulary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dialogue::Dialogue;
use generate::Parts;
use players::Player;
use random::Random;

/// Number of dialogues in a batch.
const BATCH: usize = 64;
/// Maximum number of reported differences with `--keep-going`.
const MOST: usize = 20;

struct Arguments {
    values: BTreeMap<String, String>,
    skip: Vec<String>,
    loose: bool,
    keep_going: bool,
    words: bool,
}

impl Arguments {
    fn parse() -> Arguments {
        let mut arguments = Arguments {
            values: BTreeMap::new(),
            skip: Vec::new(),
            loose: false,
            keep_going: false,
            words: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "--loose" => arguments.loose = true,
                "--words" => arguments.words = true,
                "--keep-going" => arguments.keep_going = true,
                "--skip" => arguments.skip.push(value()),
                _ => {
                    let name =
                        word.strip_prefix("--").unwrap_or_else(|| panic!("not an option: {word}")).to_owned();
                    let value = value();
                    arguments.values.insert(name, value);
                }
            }
        }
        arguments
    }

    fn get(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str, otherwise: u64) -> u64 {
        self.values
            .get(name)
            .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("--{name}: a number")))
    }
}

/// Compares the transcripts of two versions, each played by its own players.
struct Judge {
    /// Players of batches.
    batches: [Player; 2],
    /// Players of single dialogues, separate because batches may be in progress.
    singles: [Player; 2],
    arguments: Arguments,
    renames: Vec<(String, String)>,
    waiting: Vec<Vec<Dialogue>>,
    played: usize,
    differences: usize,
    /// Number of dialogues that stopped early. The summary reports the number, because such dialogues test little.
    stopped: usize,
    /// Number of occurrences of each event and command outcome.
    words: BTreeMap<String, usize>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let renames = fs::read_to_string(arguments.get("renames")).unwrap_or_default();
    let renames =
        renames.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let mut judge = Judge {
        batches: ["base", "new"].map(|version| Player::new(arguments.get(version))),
        singles: ["base", "new"].map(|version| Player::new(arguments.get(version))),
        renames: renames.map(|(from, to)| (from.to_owned(), to.to_owned())).collect(),
        arguments,
        waiting: Vec::new(),
        played: 0,
        differences: 0,
        stopped: 0,
        words: BTreeMap::new(),
    };
    let only = judge.arguments.get("only").to_owned();
    if !only.is_empty() {
        let dialogue = Dialogue::parse(&fs::read_to_string(&only).expect("the dialogue file is readable"));
        return judge.only(&dialogue);
    }
    let began = Instant::now();
    judge.all();
    let (played, took) = (judge.played, began.elapsed().as_secs_f64());
    let speed = played as f64 / took;
    println!("{played} dialogues in {took:.0} s, {speed:.0} per second, {} stopped early", judge.stopped);
    for (word, count) in &judge.words {
        println!("{count:8} {word}");
    }
    match judge.differences {
        0 => ExitCode::SUCCESS,
        count => {
            println!("{count} differences");
            ExitCode::FAILURE
        }
    }
}

impl Judge {
    /// Plays the transcripts, the corpus and the generated dialogues.
    fn all(&mut self) {
        let transcripts = dialogue::transcripts(Path::new(self.arguments.get("transcripts")));
        assert!(!transcripts.is_empty(), "no transcripts");
        for options in generate::TRANSPORT_OPTIONS {
            let dialogues =
                transcripts.iter().map(|it| Dialogue { options: options.to_owned(), ..it.clone() });
            self.play(dialogues.collect());
        }
        self.finish();
        println!("transcripts: {} dialogues", self.played);
        let parts = Parts::new(transcripts);
        let before = self.played;
        for (name, bytes) in corpus(Path::new(self.arguments.get("corpus"))) {
            if self.is_over() {
                break;
            }
            let mut random = Random::from_bytes(&bytes);
            let raw = match name.split('/').next() {
                // The first bytes are parameters of the fuzz target, not text.
                Some("scan") => bytes.get(3..),
                Some("line") => bytes.get(8..),
                _ => None,
            };
            let dialogues = match raw {
                Some(raw) => generate::raw(&name, raw, &mut random),
                // These bytes encode operations of a model. Here they seed a generated dialogue.
                None => vec![Dialogue { name, ..parts.dialogue(&mut random) }],
            };
            self.play(dialogues);
        }
        self.finish();
        println!("corpora: {} dialogues", self.played - before);
        let (seed, from) = (self.arguments.number("seed", 1), self.arguments.number("from", 0));
        let time = Duration::from_secs(self.arguments.number("time", 50));
        let count = self
            .arguments
            .number("count", if self.arguments.values.contains_key("time") { u64::MAX } else { 0 });
        let (before, began) = (self.played, Instant::now());
        for number in from.. {
            let is_done = if count > 0 { number - from >= count } else { began.elapsed() >= time };
            if is_done || began.elapsed() >= time && count == u64::MAX || self.is_over() {
                break;
            }
            let mut dialogue = parts.dialogue(&mut Random::seeded(seed, number));
            dialogue.name = format!("seed {seed}, number {number}: {}", dialogue.name);
            self.play(vec![dialogue]);
        }
        self.finish();
        println!("generated: {} dialogues with the seed {seed}", self.played - before);
    }

    fn is_over(&self) -> bool {
        self.differences >= if self.arguments.keep_going { MOST } else { 1 }
    }

    /// Queues dialogues, and plays them in batches.
    fn play(&mut self, dialogues: Vec<Dialogue>) {
        for dialogue in dialogues {
            match self.waiting.last_mut() {
                Some(batch) if batch.len() < BATCH => batch.push(dialogue),
                _ => {
                    self.send();
                    self.waiting.push(vec![dialogue]);
                }
            }
        }
        // Keep three batches, so that the players work while the next batch is generated.
        while self.waiting.len() > 3 {
            self.compare();
        }
    }

    /// Sends the last batch to both players.
    fn send(&mut self) {
        if let Some(batch) = self.waiting.last() {
            let texts: Vec<String> = batch.iter().map(Dialogue::text).collect();
            self.batches.iter().for_each(|player| player.send(texts.clone()));
        }
    }

    fn finish(&mut self) {
        self.send();
        while !self.waiting.is_empty() {
            self.compare();
        }
    }

    /// Compares the transcripts of the oldest batch.
    fn compare(&mut self) {
        let batch = self.waiting.remove(0);
        let [base, new] = self.batches.each_ref().map(Player::receive);
        self.played += batch.len();
        let mut found = Vec::new();
        for (at, dialogue) in batch.into_iter().enumerate() {
            self.stopped += usize::from(new[at].contains("\nstopped: ") || new[at].starts_with("stopped: "));
            if self.arguments.words {
                self.count(&new[at]);
            }
            if base[at] != new[at] && self.canonical(&base[at], true) != self.canonical(&new[at], false) {
                found.push(dialogue);
            }
        }
        for dialogue in found {
            if self.is_over() {
                return;
            }
            self.differences += 1;
            self.report(dialogue);
        }
    }

    /// Counts the events, command outcomes and messages of a transcript.
    fn count(&mut self, transcript: &str) {
        for line in transcript.lines() {
            let (sigil, rest) = line.split_once(' ').unwrap_or((line, ""));
            let words = match sigil {
                "!" if rest.starts_with("fault") => rest.split(',').next().unwrap_or_default().to_owned(),
                "!" => rest.split(' ').next().unwrap_or_default().to_owned(),
                "*" => {
                    let (command, outcome) = rest.rsplit_once(": ").unwrap_or((rest, ""));
                    let command = command.split_once("} ").map_or(command, |(_, command)| command);
                    format!("{}: {outcome}", command.split(' ').next().unwrap_or_default())
                }
                _ if sigil.starts_with(['<', 'o', 's', 'p', 'c']) => String::new(),
                _ => continue,
            };
            *self.words.entry(format!("{sigil} {words}")).or_default() += 1;
        }
    }

    /// Returns the lines of a transcript to compare: without skipped lines, and with the new names of renamed
    /// words.
    fn canonical(&self, transcript: &str, is_base: bool) -> Vec<String> {
        let skip = |line: &str| self.arguments.skip.iter().any(|text| line.contains(text.as_str()));
        let lines = transcript.lines().filter(|line| !skip(line)).map(|line| {
            let renames = if is_base { &self.renames[..] } else { &[] };
            renames.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from.as_str(), to))
        });
        let mut lines: Vec<String> = lines.collect();
        if self.arguments.loose {
            // Both versions may order lines of different kinds differently, so group the lines of a step by their kind.
            for step in lines.split_mut(|line| line.starts_with('#')) {
                step.sort_by_key(|line| match line.chars().next() {
                    Some('<') => 0,
                    Some('!' | '*') => 1,
                    Some('o') => 2,
                    _ => 3,
                });
            }
        }
        lines
    }

    fn both(&self, dialogue: &Dialogue) -> [Vec<String>; 2] {
        self.singles.iter().for_each(|player| player.send(vec![dialogue.text()]));
        let [base, new] = self.singles.each_ref().map(|player| player.receive().concat());
        [self.canonical(&base, true), self.canonical(&new, false)]
    }

    fn differs(&self, dialogue: &Dialogue) -> bool {
        let [base, new] = self.both(dialogue);
        base != new
    }

    /// Removes steps, options and words of the setup that the difference does not need, in a limited number of
    /// attempts.
    fn minimized(&self, dialogue: &Dialogue) -> Dialogue {
        let mut small = dialogue.clone();
        let mut attempts = 600;
        let mut attempt = |candidate: Dialogue, small: &mut Dialogue| {
            let better = attempts > 0 && self.differs(&candidate);
            attempts -= usize::from(attempts > 0);
            if better {
                *small = candidate;
            }
            better
        };
        let mut length = small.steps.len().max(1);
        while length > 0 {
            let mut at = 0;
            while at < small.steps.len() {
                let mut candidate = small.clone();
                candidate.steps.drain(at..(at + length).min(small.steps.len()));
                if !attempt(candidate, &mut small) {
                    at += length;
                }
            }
            length /= 2;
        }
        for word in small.options.clone().split_whitespace() {
            let mut candidate = small.clone();
            Dialogue::set(&mut candidate.options, word.split('=').next().unwrap_or_default(), None);
            attempt(candidate, &mut small);
        }
        for word in small.setup.clone().split_whitespace().skip(1) {
            let mut candidate = small.clone();
            Dialogue::set(&mut candidate.setup, word.split('=').next().unwrap_or_default(), None);
            attempt(candidate, &mut small);
        }
        small
    }

    fn report(&self, dialogue: Dialogue) {
        if !self.differs(&dialogue) {
            println!("a difference that is not reproducible: {}", dialogue.name);
            return;
        }
        let small = self.minimized(&dialogue);
        let folder = PathBuf::from(self.arguments.get("found"));
        fs::create_dir_all(&folder).expect("a folder");
        let hash = small
            .text()
            .bytes()
            .fold(7u64, |hash, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
        let file = folder.join(format!("{hash:016x}.txt"));
        fs::write(&file, small.text()).expect("a file");
        println!("\n=== a difference: {}\n\n{}", dialogue.name, small.text());
        let [base, new] = self.both(&small);
        let first =
            base.iter().zip(&new).position(|(one, other)| one != other).unwrap_or(base.len().min(new.len()));
        for (name, lines) in [("base", &base), ("new", &new)] {
            println!("--- {name}");
            print(lines, first, first.saturating_sub(6)..first + 8);
        }
        println!("\nagain: {} --only {}\n", self.arguments.get("again"), file.display());
    }

    /// Plays one dialogue, and prints both transcripts.
    fn only(&self, dialogue: &Dialogue) -> ExitCode {
        let [base, new] = self.both(dialogue);
        let first =
            base.iter().zip(&new).position(|(one, other)| one != other).unwrap_or(base.len().min(new.len()));
        println!("{}", dialogue.text());
        println!("--- base");
        print(&base, first, 0..base.len());
        if base == new {
            println!("\nno difference");
            return ExitCode::SUCCESS;
        }
        println!("--- new");
        print(&new, first, 0..new.len());
        ExitCode::FAILURE
    }
}

/// Prints some lines, with an arrow before the line that differs.
fn print(lines: &[String], marked: usize, range: std::ops::Range<usize>) {
    for (at, line) in lines.iter().enumerate() {
        if range.contains(&at) {
            println!("{} {line}", if at == marked { "->" } else { "  " });
        }
    }
}

/// Returns the inputs of all fuzz targets, with their names.
fn corpus(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for target in fs::read_dir(folder).into_iter().flatten().flatten() {
        let target = target.path();
        for file in fs::read_dir(&target).into_iter().flatten().flatten() {
            let file = file.path();
            let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
            files.extend(fs::read(&file).ok().map(|bytes| (name, bytes)));
        }
    }
    files.sort();
    files
}
