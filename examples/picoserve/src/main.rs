//! Serves MCP at <http://127.0.0.1:8080/mcp>, next to a page of picoserve, on one thread and two connections.

use std::cell::Cell;
use std::sync::LazyLock;
use std::time::Instant;

use mcp_proto::server::{Event, ServerConfig, Slot, Tool, Tools};
use mcp_proto::{Millis, Server};
use mcp_proto_embedded::{HttpShared, Timer};
use mcp_proto_http::server::{ExchangeSlot, HttpConfig, HttpServer, Policy};
use mcp_proto_picoserve::Mcp;
use picoserve::routing::get;
use picoserve::{Config, Router};
use tokio::net::TcpListener;

const CONNECTIONS: usize = 2;
/// Maximum length of a message, in bytes.
const MAX_MESSAGE: usize = 1024;

static TOOLS: Tools<'static> = Tools::new(&[Tool::new("blink", "{}").description("Switches the LED")]);
static CONFIG: ServerConfig<'static> = ServerConfig::new("picoserve", "0.1.0").features(&[&TOOLS]);
static HTTP: HttpConfig<'static> = HttpConfig::new();
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A policy that authorizes every request.
struct Open;

impl Policy for Open {
    const HANDSHAKE: bool = false;

    fn random(&mut self) -> [u8; 16] {
        // Only sessions need randomness, and 2026-07-28 has no sessions.
        [0; 16]
    }
}

fn now() -> Millis {
    Millis(START.elapsed().as_millis() as u64)
}

struct Clock;

impl Timer for Clock {
    fn now(&mut self) -> Millis {
        now()
    }

    async fn until(&mut self, at: Millis) {
        let left = at.0.saturating_sub(now().0);
        tokio::time::sleep(std::time::Duration::from_millis(left)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8080")).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let ([mut rx, mut tx], mut slots, mut text) =
        ([[0; MAX_MESSAGE]; 2], [Slot::EMPTY; CONNECTIONS], [0; 128]);
    let server = Server::new(&CONFIG, &mut rx, &mut tx)?.in_flight(&mut slots, &mut text)?;
    let mut server = server.message_mode()?;
    let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; CONNECTIONS], [0; 4096]);
    let mut bodies = vec![0; CONNECTIONS * HTTP.get_limits().body];
    let http = HttpServer::new(&HTTP, Open, &mut exchanges, &mut output);
    let mut http = http.body_buffer(bodies.as_mut_slice());
    let shared: HttpShared<'_, '_, Open, { CONNECTIONS + 1 }> = HttpShared::new(&mut http, &mut server);

    let app = Router::new()
        .route("/", get(|| async { "MCP is at /mcp" }))
        .route_service("/mcp", Mcp { shared: &shared, now });
    let config = Config::default();
    let connection = async || {
        let mut buffer = [0; 2048];
        loop {
            let Ok((socket, _)) = listener.accept().await else { return };
            _ = picoserve::Server::new_tokio(&app, &config, &mut buffer).serve(socket).await;
        }
    };
    let led = Cell::new(false);
    let events = async {
        while shared.event(&mut Clock).await {
            shared.with(|_, server| {
                if let Some(Event::Call(call)) = server.event() {
                    led.set(!led.get());
                    call.text(if led.get() { "the LED is on" } else { "the LED is off" });
                }
            });
        }
    };
    tokio::join!(connection(), connection(), events);
    Ok(())
}
