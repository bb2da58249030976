//! Prompts, resources and completions as functions without a heap: decoded texts, and the limits of their memory.

use mcp_proto::server::{Router, ServerConfig};
use mcp_proto::{Action, Millis, Server, ToolArguments, complete, prompt, resource, router};

#[derive(ToolArguments)]
struct Question<'a> {
    text: &'a str,
    #[tool(default = 1)]
    count: u32,
}

#[prompt]
fn ask(length: &mut usize, Question { text, count }: Question<'_>) -> u32 {
    *length = text.len();
    count
}

#[resource("note:{name}")]
fn note(length: &mut usize, name: &str) -> &'static str {
    *length = name.len();
    "found"
}

#[complete(prompt = "ask", argument = "text")]
fn texts(length: &mut usize, typed: &str) -> [&'static str; 1] {
    *length = typed.len();
    ["fits"]
}

static ROUTER: Router<usize> = router![ask, note, texts];
static CONFIG: ServerConfig = ServerConfig::new("notes", "1").features(ROUTER.features());

/// Sends a request to a new server. Returns the response, and the length of the text that the router passed to a
/// function. The length is `None` if the router called no function.
fn request(method: &str, params: &str) -> (String, Option<usize>) {
    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},{META}}}}}"#) + "\n";
    let (mut rx, mut tx) = ([0; 2048], [0; 2048]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let (mut input, mut output, mut length) = (line.as_bytes(), Vec::new(), usize::MAX);
    loop {
        match server.poll(Millis::ZERO) {
            Action::Io(io) => {
                let (out, mut space) = io.split();
                output.extend_from_slice(out.bytes());
                let (written, count) = (out.bytes().len(), space.space().len().min(input.len()));
                out.sent(written);
                space.space()[..count].copy_from_slice(&input[..count]);
                space.filled(count);
                input = &input[count..];
                if written + count == 0 {
                    return (
                        String::from_utf8(output).unwrap(),
                        Some(length).filter(|length| *length < usize::MAX),
                    );
                }
            }
            Action::Event => {
                let rest = server.event().and_then(|event| ROUTER.handle(&mut length, event));
                assert!(!matches!(rest, Some(mcp_proto::server::Event::GetPrompt(_))));
            }
            Action::Closed => panic!("the server never closes"),
        }
    }
}

#[test]
fn texts_are_decoded_up_to_the_limit_of_memory() {
    let prompt = |text: &str| format!(r#""name":"ask","arguments":{{"text":"{text}","count":"7"}}"#);
    let uri = |name: &str| format!(r#""uri":"note:{name}""#);
    let complete = |typed: &str| {
        format!(
            r#""ref":{{"type":"ref/prompt","name":"ask"}},"argument":{{"name":"text","value":"{typed}"}}"#
        )
    };
    // The limit of the arguments `{"text":"…","count":7}` is 256 bytes. The limit of a variable or a typed text is 128
    // bytes, with its two quotes.
    let (x235, x236, x126, x127) = ("x".repeat(235), "x".repeat(236), "x".repeat(126), "x".repeat(127));
    for (method, params, length, expected) in [
        ("prompts/get", prompt(r"\u00e9\n"), Some(3), r#""text":"7""#),
        ("prompts/get", prompt(&x235), Some(235), r#""text":"7""#),
        ("prompts/get", prompt(&x236), None, "Invalid arguments: the arguments are too long"),
        ("resources/read", uri("%C3%A9"), Some(2), r#""text":"found""#),
        ("resources/read", uri(&x126), Some(126), r#""text":"found""#),
        ("resources/read", uri(&x127), None, r#""code":-32602"#),
        ("completion/complete", complete(r"\u00e9"), Some(2), r#""values":["fits"]"#),
        ("completion/complete", complete(&x126), Some(126), r#""values":["fits"]"#),
        ("completion/complete", complete(&x127), None, r#""values":[]"#),
    ] {
        let (response, received) = request(method, &params);
        assert!(response.contains(expected), "{response}");
        assert_eq!(received, length, "{params}");
    }
}
