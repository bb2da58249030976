//! Log messages with data and the names of loggers.

use mcp_proto::Level;
use mcp_proto::client::Connect;
use mcp_proto_std::Notification;

use super::servers::{ADAPTERS, Limits, call};

#[test]
fn log_messages_have_json_data_and_a_logger() {
    for adapter in ADAPTERS {
        let running = adapter.listen_tcp(Limits::default());
        let client = running.address.connect(Connect::Handshake);
        client.set_log_level(Level::Warning).unwrap();
        let notifications = client.notifications();
        assert_eq!(call(&client, "log"), "logged");
        let expected = [(Level::Warning, Some("database")), (Level::Error, None)];
        for ((level, logger), notification) in expected.into_iter().zip(notifications) {
            let logger = logger.map(String::from);
            let expected = Notification::Log { level: Some(level), logger, data: "[3,4]".into() };
            assert_eq!(notification, expected, "{adapter:?}");
        }
        running.stop();
    }
}
