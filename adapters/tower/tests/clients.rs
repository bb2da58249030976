//! Clients of both eras over TCP.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mcp_proto::client::Connect;
use mcp_proto::client::Listed;
use mcp_proto::server::Change;
use mcp_proto_std::{CallError, CallOptions, Notification};

use crate::support::{LIMIT, Report, TestServer};

const ERAS: [Connect; 2] = [Connect::Automatic, Connect::Handshake];

#[test]
fn clients_of_both_eras_call_tools() {
    let server = TestServer::start();
    for connect in ERAS {
        let client = server.connect(connect);
        for (tool, text) in [("echo", "7"), ("task", "done"), ("progress", "done")] {
            assert_eq!(client.call_json(tool, "{}").unwrap().text().as_deref(), Some(text));
        }
        client.close();
    }
    server.expect_no_exchange();
}

#[test]
fn many_clients_call_at_the_same_time() {
    let server = TestServer::start();
    for connect in ERAS {
        let clients: Vec<_> = (0..10).map(|_| server.connect(connect)).collect();
        let begin = |index: usize| {
            let tool = if index.is_multiple_of(2) { "task" } else { "progress" };
            clients[index % clients.len()].begin_json(tool, "{}", CallOptions::new()).unwrap()
        };
        let calls: Vec<_> = (0..100).map(begin).collect();
        for call in calls {
            assert_eq!(call.wait().unwrap().text().as_deref(), Some("done"));
        }
    }
    server.expect_no_exchange();
}

#[test]
fn thousand_calls_of_clients_run_at_the_same_time() {
    let server = TestServer::start();
    for connect in ERAS {
        let clients: Vec<_> = (0..20).map(|_| server.connect(connect)).collect();
        let options = CallOptions::new().timeout(Duration::from_secs(60));
        let begin =
            |index: usize| clients[index % clients.len()].begin_json("gather", "{}", options).unwrap();
        let calls: Vec<_> = (0..1000).map(begin).collect();
        for call in calls {
            assert_eq!(call.wait().unwrap().text().as_deref(), Some("done"));
        }
    }
    server.expect_no_exchange();
}

#[test]
fn progress_arrives_before_the_response() {
    let server = TestServer::start();
    for connect in ERAS {
        let client = server.connect(connect);
        let mut steps = 0;
        let call = client.begin_json("progress", "{}", CallOptions::new().with_progress()).unwrap();
        let result = call.wait_with(|_| steps += 1);
        assert_eq!((result.unwrap().text().as_deref(), steps), (Some("done"), 3));
    }
}

#[test]
fn cancelled_call_ends_on_the_server() {
    let server = TestServer::start();
    for connect in ERAS {
        let client = server.connect(connect);
        let (progress, has_progress) = channel();
        let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
        let canceller = call.canceller();
        let waiter = thread::spawn(move || {
            call.wait_with(move |_| {
                let _ = progress.send(());
            })
        });
        has_progress.recv_timeout(LIMIT).expect("progress arrives before the response");
        server.expect(Report::Waiting);
        canceller.cancel("");
        assert_eq!(waiter.join().unwrap(), Err(CallError::Cancelled));
        server.expect(Report::Cancelled);
    }
}

#[test]
fn subscription_receives_changes_until_it_ends() {
    let server = TestServer::start();
    let client = server.connect(Connect::Automatic);
    let mut subscription = client.listen(&[Listed::Tools], &["file:///a"]).unwrap();
    server.expect(Report::Listening);
    server.service.handle().changed(Change::Tools);
    assert_eq!(subscription.next_within(LIMIT), Some(Notification::Changed(Listed::Tools)));
    server.service.handle().changed(Change::Resource("file:///a"));
    assert_eq!(subscription.next_within(LIMIT), Some(Notification::Updated("file:///a".into())));
    drop(subscription);
    server.expect_no_exchange();
}
