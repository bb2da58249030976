//! The echo server over HTTP on `mcp-proto-tower` and hyper.

#[path = "../../echo.rs"]
mod echo;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use mcp_proto_tower::{HttpAccess, HttpConfig, Serve, SessionMode};

static HTTP: HttpConfig = {
    let mut limits = HttpConfig::new().get_limits();
    limits.body = 1 << 20;
    HttpConfig::new().sessions(SessionMode::Sessions).limits(limits)
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service =
        Serve::new(&echo::CONFIG).service(HttpAccess::new(&HTTP), |event, _| echo::handle(event))?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
