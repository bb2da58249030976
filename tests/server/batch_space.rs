//! Space for batch responses, tested to the byte.

use super::batches::{CONFIG, PING, SMALL, error, gets, ping, pong, sends, text, tool};
use crate::support::server::Setup;
use crate::support::transport::serve;
use mcp_proto::server::{Event, Feature, Limits, Server, ServerConfig, Tool, Tools};
use mcp_proto::{ProtocolError, Revision};
use serde_json::Value;

/// The length of the brackets and the newline of an array.
const ARRAY: usize = 3;

fn setup(tx: usize, answers: usize) -> Setup {
    let info = CONFIG.limits(Limits::DEFAULT.with_id(20));
    Setup::new(info).tx(tx).slots(4, 64).batch_buffer(answers).session(Revision::V2025_03_26)
}

fn large(id: &str, bytes: usize) -> String {
    let params = format!("{{\"name\":\"large\",\"arguments\":{{\"bytes\":{bytes}}}}}");
    super::batches::call(id, "tools/call", &params)
}

#[test]
fn batch_is_accepted_if_each_error_would_fit() {
    for count in [4, 5, 9] {
        let ids: Vec<String> = (0..count).map(|id| ping(&id.to_string())).collect();
        let members: Vec<&str> = ids.iter().map(String::as_str).collect();
        let pongs: Vec<String> = (0..count).map(|id| pong(&id.to_string())).collect();
        let answers = gets(&pongs.iter().map(String::as_str).collect::<Vec<_>>());
        let refused = format!(
            "< {}\n! fault BatchTooLarge\n{PING}",
            error(
                "null",
                -32600,
                &format!("Invalid request: the batch has too many requests: at most {} requests", count - 1)
            )
        );
        let batch = sends(&members);
        let needed = count * SMALL;
        // First the transmit buffer sets the limit, then the batch buffer.
        setup(needed + ARRAY, 5000).check(&format!("{batch}{answers}{batch}{answers}"));
        setup(needed + ARRAY - 1, 5000).check(&format!("{batch}{refused}"));
        setup(5000, needed).check(&format!("{batch}{answers}{batch}{answers}"));
        setup(5000, needed - 1).check(&format!("{batch}{refused}"));
    }
}

#[test]
fn last_batch_response_may_use_all_remaining_space() {
    let (all, frame) = (1997, text("1", "").len());
    let too_large = |id: &str, limit: usize| {
        error(id, -32603, &format!("Internal error: the response is too large (at most {limit} bytes)"))
    };
    for (tx, answers) in [(all + ARRAY, all), (all + ARRAY, 5000), (5000, all)] {
        let setup = setup(tx, answers);
        // The space that two short responses and their commas leave.
        let left = all - 2 * (pong("1").len() + 1) - frame;
        let batch = |bytes: usize| {
            let call = format!("! call large {{\"bytes\":{bytes}}}\n");
            sends(&[&ping("1"), &ping("2"), &large("3", bytes)]) + &call
        };
        let fits = gets(&[&pong("1"), &pong("2"), &text("3", &"x".repeat(left))]);
        // The limit in the error includes one byte for a newline.
        let limit = left + frame + 1;
        let refused = gets(&[&pong("1"), &pong("2"), &too_large("3", limit)]);
        setup.check(&format!("{}{fits}{PING}", batch(left)));
        setup.check(&format!("{}! fault ReplyTooLarge\n{refused}{PING}", batch(left + 1)));
    }
}

#[test]
fn deferred_responses_may_use_all_remaining_space() {
    let (all, frame) = (1997, text("1", "").len());
    let open = format!(
        "{}! call defer {{}}\n! call defer {{}}\n",
        sends(&[&ping("1"), &tool("2", "defer"), &tool("3", "defer")])
    );
    let x = |bytes: usize| "x".repeat(bytes);
    for (tx, answers) in [(all + ARRAY, all), (all + ARRAY, 5000), (5000, all)] {
        let setup = setup(tx, answers);
        // The first response leaves space for the smallest error of the second.
        let (before, rest) = (pong("1").len(), all - SMALL);
        let first = rest - before - frame - 1;
        let last = all - (before + 1 + frame + first) - 1 - frame;
        for (one, two, faults) in [
            (first, last, [false, false]),
            (first, last + 1, [false, true]),
            (first + 1, 1, [true, false]),
            (10, all - (before + 1 + frame + 10) - 1 - frame, [false, false]),
            (10, all - (before + 1 + frame + 10) - frame, [false, true]),
        ] {
            let answer = |id: &str, bytes: usize, fault: bool| {
                if fault {
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{…}}}}")
                } else {
                    text(id, &x(bytes))
                }
            };
            let told = |fault: bool| if fault { "! fault ReplyTooLarge\n" } else { "" };
            setup.check(&format!(
                "{open}* answer 0 {}\n{}* answer 1 {}\n{}{}{PING}",
                x(one),
                told(faults[0]),
                x(two),
                told(faults[1]),
                gets(&[&pong("1"), &answer("2", one, faults[0]), &answer("3", two, faults[1])]),
            ));
        }
    }
}

#[test]
fn list_without_space_for_an_entry_is_refused() {
    static LETTERS: [u8; 500] = [b'x'; 500];
    const DESCRIPTION: &str = match core::str::from_utf8(&LETTERS) {
        Ok(text) => text,
        Err(_) => "",
    };
    const TOOL: Tool<'static> = Tool::new("t", "{}").description(DESCRIPTION);
    static TOOLS: Tools = Tools::new(&[TOOL]);
    static DYNAMIC: Tools = Tools::dynamic_list();
    static FEATURES: [[&dyn Feature; 1]; 2] = [[&TOOLS], [&DYNAMIC]];
    let list = super::batches::call("1", "tools/list", "");
    let pings = ["2", "3", "4", "5"].map(ping);
    let members: Vec<&str> = [&list].into_iter().chain(&pings).map(String::as_str).collect();
    let hello = super::batches::call("0", "initialize", &crate::support::server::hello("2025-03-26"));
    // The first batch leaves enough space for the tool, the second does not.
    let input = format!("{hello}\n[{}]\n[{}]\n", members[..2].join(","), members.join(","));
    for features in &FEATURES {
        let config = ServerConfig::new("s", "1").features(features).limits(Limits::DEFAULT.with_id(20));
        let (mut rx, mut tx, mut responses) = ([0; 1024], [0; 1300], [0; 2048]);
        let mut server = Server::new(&config, &mut rx, &mut tx).unwrap().batch_buffer(&mut responses);
        let mut faults = Vec::new();
        let output = serve(&mut server, input.as_bytes(), &mut |event| match event {
            Event::ListTools(list) => list.tools(|index| (index == 0).then_some(TOOL)),
            Event::ProtocolError(error) => faults.push(error),
            _ => {}
        });
        let responses: Vec<Value> =
            output.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(responses[0][0]["result"]["tools"][0]["name"], "t");
        assert_eq!(responses[1][0]["error"]["code"], -32603, "{output}");
        assert_eq!(responses[1].as_array().unwrap().len(), 5);
        assert!(matches!(faults[..], [ProtocolError::ReplyTooLarge { .. }]), "{faults:?}");
    }
}
