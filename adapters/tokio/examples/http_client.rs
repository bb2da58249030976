//! Lists the tools of a server at a URL, or calls one tool.
//!
//!     cargo run -p mcp-proto-tokio --features https --example http_client -- URL [TOOL [ARGUMENTS]]
//!
//! ARGUMENTS is a JSON object. The environment variable TOKEN is sent as a bearer token.

use std::error::Error;
use std::process::ExitCode;

use mcp_proto_tokio::{CallOptions, Connector, HttpEndpoint, Printable};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().filter(|url| !url.starts_with('-'));
    let mut endpoint = HttpEndpoint::new(url.ok_or("usage: http_client URL [TOOL [ARGUMENTS]]")?);
    if let Ok(token) = std::env::var("TOKEN") {
        endpoint = endpoint.header("Authorization", format!("Bearer {token}"));
    }
    let client = Connector::new("http_client", env!("CARGO_PKG_VERSION")).http(endpoint).await?;
    let server = client.server();
    println!("{} {}, {}", Printable(&server.name), Printable(&server.version), server.revision);
    match arguments.next() {
        None => {
            for tool in client.list_tools().await? {
                let description = tool.description.unwrap_or_default();
                println!("{}: {}", Printable(&tool.name), Printable(&description));
            }
        }
        Some(tool) => {
            let given = arguments.next();
            let options = CallOptions::new().with_progress();
            let mut call = client.begin_json(&tool, given.as_deref().unwrap_or("{}"), options)?;
            while let Some(progress) = call.progress().await {
                println!("progress {}", progress.progress);
            }
            println!("{}", Printable(&call.await?.text().unwrap_or_default()));
        }
    }
    client.close().await;
    Ok(())
}
