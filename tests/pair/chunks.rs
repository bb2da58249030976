//! A server that writes its results in chunks, and a client that reads them in chunks, through small buffers.

use crate::support::Random;
use crate::support::transport::{give_input, take_output};
use mcp_proto::client::{self, ChunkData, ClientConfig, Connect, Options};
use mcp_proto::server::{self, ChunkedContent, Server, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Client, Millis, Ticket};

static TOOLS: Tools = Tools::new(&[Tool::new("text", "{}"), Tool::new("blob", "{}")]);
static SERVER: ServerConfig = ServerConfig::new("s", "1").features(&[&TOOLS]);
const SIZE: usize = 1 << 20;

/// Returns the byte at an offset of the content. All bytes are ASCII, and some need an escape.
fn byte(at: usize) -> u8 {
    b"ab\n\"c\\d e"[at % 9]
}

/// Writes as much of the content as the server takes. Returns `false` if a part of the content is left.
fn write(server: &mut Server<'_>, ticket: Ticket, is_blob: bool, sent: &mut usize) -> bool {
    let Ok(mut chunks) = server.chunks(ticket) else { return true };
    loop {
        let part: Vec<u8> = (*sent..SIZE.min(*sent + 300)).map(byte).collect();
        let taken = if is_blob { chunks.blob(&part) } else { chunks.text(str::from_utf8(&part).unwrap()) };
        *sent += taken;
        if *sent == SIZE {
            chunks.end();
            return true;
        }
        if taken < part.len() {
            return false;
        }
    }
}

#[test]
fn mebibyte_passes_through_buffers_of_512_bytes() {
    for (connect, is_blob) in
        [Connect::Automatic, Connect::Handshake].into_iter().flat_map(|it| [(it, false), (it, true)])
    {
        let config = ClientConfig::new("c", "1").connect(connect);
        let ([mut rx, mut client_rx], [mut tx, mut client_tx]) = ([[0; 512]; 2], [[0; 700]; 2]);
        let (mut slots, mut text) = ([server::Slot::EMPTY; 1], [0; 64]);
        let mut client_slots = [client::Slot::EMPTY; 1];
        let mut server = Server::new(&SERVER, &mut rx, &mut tx[..512]).unwrap();
        server = server.in_flight(&mut slots, &mut text).unwrap();
        let mut client = Client::new(&config, &mut client_rx, &mut client_tx)
            .unwrap()
            .in_flight(&mut client_slots, &mut []);
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        let (mut download, mut received, mut is_over) = (None, 0, false);
        let mut random = Random(5);
        while !is_over {
            match server.poll(Millis(0)) {
                Action::Event => match server.event() {
                    Some(server::Event::Call(call)) => {
                        let content = match is_blob {
                            true => ChunkedContent::Image { mime_type: "image/png" },
                            false => ChunkedContent::Text,
                        };
                        download = Some((call.chunked(content).unwrap(), 0));
                    }
                    Some(server::Event::ProtocolError(error)) => panic!("{error}"),
                    _ => {}
                },
                Action::Io(io) => {
                    let (out, space) = io.split();
                    let most = 1 + random.below(600);
                    if to_client.len() < 100 {
                        take_output(out, most, &mut to_client);
                    }
                    let mut input = &to_server[..];
                    let given = give_input(space, most, &mut input);
                    to_server.drain(..given);
                }
                Action::Closed => panic!("closed"),
            }
            if let Some((ticket, sent)) = &mut download
                && write(&mut server, *ticket, is_blob, sent)
            {
                download = None;
            }
            match client.poll(Millis(0)) {
                Action::Event => match client.event().unwrap() {
                    client::Event::Connected(_) => {
                        let ticket = client.call_json("text", "{}", Options::DEFAULT).unwrap();
                        client.receive_chunks(ticket).unwrap();
                    }
                    client::Event::Chunk { block: 0, data, .. } => {
                        let bytes = match data {
                            ChunkData::Text(text) if !is_blob => text.as_bytes(),
                            ChunkData::Blob(bytes) if is_blob => bytes,
                            data => panic!("{data:?}"),
                        };
                        assert!(bytes.iter().enumerate().all(|(at, found)| *found == byte(received + at)));
                        received += bytes.len();
                    }
                    client::Event::Response(response) => {
                        assert_eq!(received, SIZE);
                        let result = response.tool_result().expect("a result");
                        assert!(!result.is_error() && result.blocks().count() == 1);
                        is_over = true;
                    }
                    event => panic!("{event:?}"),
                },
                Action::Io(io) => {
                    let (out, space) = io.split();
                    let most = 1 + random.below(600);
                    take_output(out, most, &mut to_server);
                    let mut input = &to_client[..];
                    let given = give_input(space, most, &mut input);
                    to_client.drain(..given);
                }
                Action::Closed => panic!("closed"),
            }
        }
    }
}
