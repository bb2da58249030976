//! Inserts the actual output and events into transcripts. Review the result.

use std::collections::BTreeMap;
use std::fs;

use mcp_proto::SendError;

use crate::direct::{Movement, Wire};
use crate::format::{Names, Step, Transcript, files, folder, parse};
use crate::subject::Subject;

/// Returns whether the environment variable `UPDATE` is set.
pub(crate) fn is_requested() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Rewrites every file if the environment variable `UPDATE` is set. Returns whether the files were rewritten.
///
/// # Panics
/// Panics if a file cannot be read, parsed or written, if a transcript does not end, or if a command fails with
/// [`SendError::Busy`].
pub fn update() -> bool {
    if !is_requested() {
        return false;
    }
    for file in files() {
        let path = folder().join(&file);
        // In the first run, each command waits until the machine is idle. The events that this run inserts before a
        // command determine when the command runs in the second run.
        for waits in [true, false] {
            let text = fs::read_to_string(&path).expect("a file");
            fs::write(&path, filled_in(&file, &text, waits)).expect("a file");
        }
    }
    true
}

fn filled_in(file: &str, text: &str, waits: bool) -> String {
    let mut more: BTreeMap<usize, String> = BTreeMap::new();
    for transcript in parse(file, text) {
        for (line, said) in say(&transcript, waits) {
            more.entry(line).or_default().push_str(&said);
        }
    }
    let mut new = String::new();
    for (line, text) in text.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        if !["< ", "! ", "* "].iter().any(|sigil| text.starts_with(sigil)) {
            new.push_str(text);
            new.push('\n');
        }
        new.push_str(more.get(&line).map_or("", String::as_str));
    }
    new
}

/// Returns the text to insert after each line.
fn say(transcript: &Transcript, waits: bool) -> Vec<(usize, String)> {
    let mut wire = Wire::new(Subject::new(transcript), Movement::PLAIN);
    if waits {
        wire.subject.wait_for_commands();
    }
    let mut said = Vec::new();
    let end = |why: String| panic!("{}: {why}", transcript.name());
    let mut last = transcript.line + 1;
    wire.run_until_idle().unwrap_or_else(end);
    let (prelude, steps) = transcript.steps.split_at(transcript.prelude);
    for (_, step) in prelude {
        if let Step::In(bytes) = step {
            wire.incoming.extend_from_slice(bytes);
            wire.run_until_idle().unwrap_or_else(end);
        }
    }
    // The update does not insert output and events of the prelude.
    let (mut lines, mut events) = (0, 0);
    for (_, step) in prelude {
        match step {
            Step::Out(_) => lines += 1,
            Step::Event(_) => events += 1,
            _ => {}
        }
    }
    let (mut written, mut logged) = (0, 0);
    while lines > 0 {
        lines -= usize::from(wire.output[written] == b'\n');
        written += 1;
    }
    while events > 0 {
        events -= usize::from(wire.subject.log[logged].starts_with('!'));
        logged += 1;
    }
    let mut note = |wire: &Wire<'_>, line: usize| {
        let mut text = String::new();
        for entry in &wire.subject.log[logged..] {
            text.push_str(&format!("{}\n", shorten(entry, &transcript.names)));
        }
        for line in String::from_utf8_lossy(&wire.output[written..]).lines() {
            text.push_str(&format!("< {}\n", shorten(line, &transcript.names)));
        }
        (written, logged) = (wire.output.len(), wire.subject.log.len());
        said.push((line, text));
    };
    note(&wire, last);
    for (line, step) in steps {
        match step {
            Step::In(bytes) => {
                wire.incoming.extend_from_slice(bytes);
                wire.run_until_idle().unwrap_or_else(end);
            }
            Step::Command(command) if waits => {
                let outcome = wire.subject.command(command);
                assert!(outcome != Err(SendError::Busy), "{}: {command}: busy", transcript.name());
                wire.run_until_idle().unwrap_or_else(end);
            }
            Step::Out(_) | Step::Event(_) | Step::Command(_) => continue,
            other => wire.step(other).unwrap_or_else(end),
        }
        last = *line;
        note(&wire, last);
    }
    wire.finish().unwrap_or_else(end);
    note(&wire, last);
    let has_ended = steps.iter().any(|(_, step)| matches!(step, Step::End | Step::Gone));
    if let Some((_, text)) = said.last_mut().filter(|(_, text)| !text.is_empty() && !has_ended) {
        text.insert_str(0, "~ end\n");
    }
    said
}

/// Replaces texts by their abbreviations, the longest text first.
fn shorten(text: &str, names: &Names) -> String {
    let mut names: Vec<_> = names.iter().collect();
    names.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let mut text = text.to_owned();
    for (name, value) in names {
        text = text.replace(value.as_str(), &format!("${name}"));
    }
    let mut short = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(first).len();
        let times = run / first.len_utf8();
        if first.is_ascii_control() {
            short.push_str(&format!("\\x{:02x}", u32::from(first)).repeat(times));
        } else if times >= 48 {
            short.push_str(&format!("${{{first}*{times}}}"));
        } else {
            short.push_str(&rest[..run]);
        }
        rest = &rest[run..];
    }
    short
}
