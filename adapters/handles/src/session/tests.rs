use std::sync::Arc;

use mcp_proto::{Client, Millis};

use super::ClientSession;
use crate::client_settings::ClientSettings;
use crate::client_shared::ClientShared;
use crate::options::CallOptions;
use crate::pending::{PendingRequest, RequestState};
use crate::request::Request;

/// A session and its client, without a pump.
struct Harness {
    client: Client<'static>,
    session: ClientSession,
    shared: Arc<ClientShared>,
}

impl Harness {
    fn new(settings: ClientSettings) -> Harness {
        let settings = Box::leak(Box::new(settings));
        let config = Box::leak(Box::new(settings.config()));
        let shared = ClientShared::new(settings);
        let session = ClientSession::new(&shared, Arc::new(|| {}), None);
        Harness { client: settings.client(config, None).unwrap(), session, shared }
    }

    /// Starts a call.
    fn call(&self) -> Arc<RequestState> {
        let call = Request::Call { tool: "add".into(), arguments: "{}".into() };
        let state = RequestState::new(call, CallOptions::new());
        self.shared.start(Arc::clone(&state)).unwrap();
        state
    }
}

#[test]
fn cancelled_unsent_requests_are_dropped() {
    let mut settings = ClientSettings::new("test".into(), "1".into());
    (settings.requests, settings.waiting) = (1, 4);
    let mut harness = Harness::new(settings);
    let kept = harness.call();
    for _ in 0..10_000 {
        drop(PendingRequest::<()>::new(harness.call(), Arc::clone(&harness.shared), |_| None));
        harness.session.process_commands(&mut harness.client, Millis(0));
    }
    assert!(harness.session.unsent.len() <= 10, "{}", harness.session.unsent.len());
    assert!(kept.is_awaited() && harness.session.unsent.iter().any(|(state, _)| Arc::ptr_eq(state, &kept)));
}
