//! The process ids of child processes.

use std::process::Command;

use mcp_proto_std::{ConnectError, Reconnect};

/// A server that responds to `initialize` with its process id as its version, and exits when its input ends.
const SERVER: &str = r#"while read line; do case "$line" in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"%s"}}}\n' "$(printf %s "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')" $$;;
esac; done"#;

fn command() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", SERVER]);
    command
}

#[test]
fn process_id_is_that_of_the_running_server() -> Result<(), ConnectError> {
    use mcp_proto::client::Connect::Handshake;
    let client = mcp_proto_std::Connector::new("test", "1").connect(Handshake).spawn(command())?;
    let id = client.process_id().unwrap().to_string();
    assert_eq!(client.server().version, id);
    client.close();
    assert_eq!(client.process_id(), None);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let connector = mcp_proto_tokio::Connector::new("test", "1").connect(Handshake);
        let client = connector.reconnect(Reconnect::DEFAULT).spawn(command()).await?;
        let id = client.process_id().unwrap().to_string();
        assert_eq!(client.server().version, id);
        client.close().await;
        assert_eq!(client.process_id(), None);
        Ok(())
    })
}
