//! Fuzz target `dialogue`: mutated transcripts, with different byte movements.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use arbitrary::Arbitrary;
use mcp_proto::json::{Json, Kind, Member, Scanner};
use mcp_proto_transcripts::direct::{Movement, play};
use mcp_proto_transcripts::{Step, Transcript as Dialogue};

use super::mutate::{Mutation, chosen, mutate};
use super::seeds;

#[derive(Debug, Arbitrary)]
struct Input {
    dialogue: u16,
    read: u8,
    write: u8,
    reads_first: bool,
    ahead: bool,
    grown: bool,
    mutations: Vec<Mutation>,
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    static ALL: OnceLock<Vec<Dialogue>> = OnceLock::new();
    let Some(input) = super::input::<Input>(bytes) else { return };
    let all = ALL.get_or_init(mcp_proto_transcripts::all);
    let mut dialogue = chosen(all, input.dialogue).clone();
    for mutation in input.mutations.iter().take(12) {
        mutate(&mut dialogue, *mutation, all);
    }
    let plain = Movement { grown: input.grown, ..Movement::PLAIN };
    let [read, write] =
        [input.read, input.write].map(|most| if most == 0 { usize::MAX } else { usize::from(most) });
    // The commands of the application do not wait until the machine has read all input. So the peer must not send ahead
    // if the transcript has commands.
    let ahead = input.ahead && !dialogue.steps.iter().any(|(_, step)| matches!(step, Step::Command(_)));
    let cut = Movement { read, write, reads_first: input.reads_first, ahead, ..plain };
    let [first, second] = [plain, cut].map(|movement| match play(&dialogue, movement) {
        Ok(played) => played,
        Err(why) => panic!("{}\n{why}", shown(&dialogue)),
    });
    let said = said(&first.0);
    assert!(first.0 == second.0, "{}{cut:?}\n{said}\nor\n{}", shown(&dialogue), self::said(&second.0));
    assert!(first.1 == second.1, "{}{cut:?}\n{:#?}\nor\n{:#?}", shown(&dialogue), first.1, second.1);
    if let Err(why) = tally(&dialogue, &first.0) {
        panic!("{}\n{said}\n{why}", shown(&dialogue));
    }
}

/// The allowed and the actual number of responses to an id.
#[derive(Debug, Default)]
struct Tally {
    may: usize,
    has: usize,
}

/// Checks the output: whole messages, and at most one response per request.
fn tally(dialogue: &Dialogue, written: &[u8]) -> Result<(), String> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for line in seeds::input_of(dialogue).split(|byte| *byte == b'\n') {
        // A line may be both too deep and not JSON. A machine that stops at the depth limit still finds the id of such
        // a line.
        let depth = dialogue.setup.word("depth").and_then(|depth| depth.parse().ok()).unwrap_or(64);
        let all = ids(line, 128);
        let bounded = ids(line, depth).into_iter().filter(|id| !all.contains(id));
        for id in bounded.chain(all.iter().cloned()) {
            tallies.entry(id).or_default().may += 1;
        }
    }
    let mut lines: Vec<&[u8]> = written.split(|byte| *byte == b'\n').collect();
    let gone = dialogue.steps.iter().any(|(_, step)| matches!(step, Step::Gone));
    let rest = lines.pop().unwrap_or_default();
    if !rest.is_empty() && !gone {
        return Err("the last line is incomplete".into());
    }
    for line in lines {
        let json = Json::parse(line).map_err(|error| format!("no JSON is written: {error}"))?;
        let members: Vec<Json<'_>> =
            if json.kind() == Kind::Array { json.elements().collect() } else { vec![json] };
        if members.is_empty() {
            return Err("the output contains an empty batch".into());
        }
        for message in members {
            let Some(id) = answered(message)? else { continue };
            let tally = tallies.entry(id.clone()).or_default();
            tally.has += 1;
            if tally.has > tally.may {
                return Err(format!("{} responses to {} requests with the id {id}", tally.has, tally.may));
            }
        }
    }
    Ok(())
}

/// Returns the ids in a line to which the machine may respond.
///
/// `depth` is the depth limit of the scanner. The scanner may therefore read only a part of the line.
fn ids(line: &[u8], depth: u8) -> Vec<String> {
    if let Ok(json) = Json::parse(line)
        && json.kind() == Kind::Array
    {
        return json.elements().filter_map(|message| message.get("id")).map(decoded).collect();
    }
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let mut scanner = Scanner::new(depth);
    scanner.feed(line);
    let id = scanner.member(Member::Id).and_then(|id| line.get(id.start..id.end?));
    id.and_then(|id| Json::parse(id).ok()).map(decoded).into_iter().collect()
}

fn decoded(id: Json<'_>) -> String {
    id.string().map_or_else(|| id.raw().to_owned(), |text| format!("{:?}", text.to_string()))
}

/// Returns the id of a response, or `None` for a request, a notification, or an error without an id.
///
/// # Errors
/// The message is malformed.
fn answered(message: Json<'_>) -> Result<Option<String>, String> {
    let has = |name: &str| message.get(name).is_some();
    let odd = || Err(format!("not a protocol message: {message}"));
    if !message.get("jsonrpc").and_then(|version| version.string()).is_some_and(|version| version == "2.0") {
        return odd();
    }
    match (has("method"), has("result"), has("error")) {
        (true, false, false) => Ok(None),
        (false, true, false) if !has("id") => odd(),
        (false, true, false) | (false, false, true) => {
            Ok(message.get("id").filter(|id| !id.is_null()).map(decoded))
        }
        _ => odd(),
    }
}

fn shown(dialogue: &Dialogue) -> String {
    let mut text = format!("{}\n", dialogue.name());
    for (_, step) in &dialogue.steps {
        text += &match step {
            Step::In(bytes) => format!("> {}\n", String::from_utf8_lossy(bytes).trim_end()),
            Step::Command(command) => format!("* {command}\n"),
            Step::Event(_) | Step::Out(_) => continue,
            other => format!("~ {other:?}\n"),
        };
    }
    text
}

fn said(written: &[u8]) -> String {
    String::from_utf8_lossy(written).lines().map(|line| format!("< {line}\n")).collect()
}
