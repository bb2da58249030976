//! Functions in a router without an attribute.

use mcp_proto::router;
use mcp_proto::server::Router;

struct State;

fn free() {}

impl State {
    fn method(&self) {}
}

static FREE: Router<State> = router![free];

static METHOD: Router<State> = router![State::method];

fn main() {}
