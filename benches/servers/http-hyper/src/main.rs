//! A hyper server that responds with a constant: the lower limit for the cost of a server on hyper.
//!
//! `http-hyper LENGTH` responds with a body of LENGTH bytes.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;

const BEFORE_TEXT: &str = r#"{"jsonrpc":"2.0","id":1000000,"result":{"content":[{"type":"text","text":""#;
const AFTER_TEXT: &str = r#""}]}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let length: usize = std::env::args().nth(1).ok_or("a length")?.parse()?;
    let text = "x".repeat(length.saturating_sub(BEFORE_TEXT.len() + AFTER_TEXT.len()));
    let body = Bytes::from(format!("{BEFORE_TEXT}{text}{AFTER_TEXT}"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let body = body.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let response = Response::builder()
                .header("content-type", "application/json")
                .body(Full::new(body.clone()))
                .unwrap_or_default();
            async { request.into_body().collect().await.map(|_| response) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
