//! Chunked responses of tasks, and of a task that drops a write.

use std::time::Duration;

use crate::peer::{Peer, call};
use mcp_proto::SendError;
use mcp_proto::server::{ChunkedContent, Event, ServerConfig, Tool, Tools};
use mcp_proto_tokio::{Responder, ServerHandle};
use tokio::time::{sleep, timeout};

static TOOLS: Tools = Tools::new(&[
    Tool::new("image", "{}"),
    Tool::new("impatient", "{}"),
    Tool::new("hasty", "{}"),
    Tool::new("quick", "{}"),
]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

fn handler(event: Event<'_>, server: &ServerHandle) {
    if let Event::Call(call) = event {
        let name = call.name().to_owned();
        server.run(call, move |responder| async move { respond(&name, responder).await });
    }
}

async fn respond(tool: &str, responder: Responder) {
    if tool == "quick" {
        return responder.text("quick");
    }
    if tool == "hasty" {
        // This response waits, because the response of `image` is still open. Dropping the future fails the call.
        sleep(Duration::from_millis(50)).await;
        let open = responder.chunked(|reply| reply.chunked(ChunkedContent::Text));
        return assert!(timeout(Duration::from_millis(50), open).await.is_err());
    }
    let image = ChunkedContent::Image { mime_type: "image/png" };
    let mut writer = responder.chunked(move |reply| reply.chunked(image)).await.expect("a writer");
    if tool == "impatient" {
        // The client does not read, so a write eventually waits.
        while let Ok(written) = timeout(Duration::from_millis(200), writer.blob(vec![0; 100_000])).await {
            assert_eq!(written, Ok(()));
        }
        // The last write was dropped, so the response is incomplete. A later write does not change that.
        let _ = writer.blob(vec![0; 3]).await;
        return writer.end();
    }
    for byte in 0..=u8::MAX {
        assert_eq!(writer.blob([byte; 3000]).await, Ok(()));
    }
    assert_eq!(writer.text("no bytes").await, Ok::<(), SendError>(()).and(Err(SendError::Gone)));
}

#[tokio::test]
async fn large_image_is_written_in_chunks() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, ("2025-06-18", "{}"), handler).await;
    peer.send(&call(1, "image", "{}")).await;
    let line = peer.line().await;
    assert!(line.len() > 1_024_000, "{} bytes", line.len());
    // An image accepts no text, so the text at the end makes the result an error.
    assert!(line.ends_with("////\"}],\"isError\":true}}\n"), "{}", &line[line.len() - 50..]);
}

#[tokio::test]
async fn dropped_write_fails_the_response() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 1, ("2025-06-18", "{}"), handler).await;
    peer.send(&call(1, "impatient", "{}")).await;
    sleep(Duration::from_millis(500)).await;
    let line = peer.line().await;
    assert!(line.ends_with("],\"isError\":true}}\n"), "{}", &line[line.len() - 50..]);
    peer.send(&call(2, "quick", "{}")).await;
    assert!(peer.line().await.contains("quick"));
}

#[tokio::test]
async fn dropped_wait_for_a_response_does_not_block_the_open_one() {
    let (mut peer, _server) = Peer::connect(&CONFIG, 2, ("2025-06-18", "{}"), handler).await;
    peer.send(&(call(1, "image", "{}") + &call(2, "hasty", "{}"))).await;
    // The client reads only after `hasty` has dropped its future.
    sleep(Duration::from_millis(300)).await;
    let image = peer.line().await;
    assert!(image.ends_with("////\"}],\"isError\":true}}\n"), "{}", &image[image.len() - 50..]);
    let error = peer.line().await;
    assert!(error.contains("\"id\":2,\"error\":{\"code\":-32603"), "{error}");
}
