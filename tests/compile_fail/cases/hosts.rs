//! Functions that the routers of the adapters for threads and tokio cannot run.

use mcp_proto::{Schema, router, tool};
use mcp_proto_tokio::Router;
use mcp_proto_tokio::server::{self, Structured};

struct State {
    value: i64,
}

impl State {
    #[tool]
    fn changes(&mut self) -> i64 {
        self.value += 1;
        self.value
    }

    #[tool]
    fn reads(&self) -> i64 {
        self.value
    }

    #[tool]
    async fn waits(&self) -> i64 {
        self.value
    }
}

static EXCLUSIVE: Router<State> = router![State::changes];

static OTHER_STATE: Router<i64> = router![State::reads];

static THREADS: mcp_proto_std::Router<State> = router![State::waits];

static BOARD: server::Router<State> = router![State::waits];

// Functions that run at once are possible here, but an adapter needs its own router.
static IMMEDIATE: server::Router<State> = router![State::reads];

fn routes() {
    let _ = mcp_proto_tokio::route(&IMMEDIATE, State { value: 1 });
}

#[tool]
fn announces(_: &mcp_proto_tokio::ServerHandle) {}

// The core router has no handle.
static NO_HANDLE: server::Router<State> = router![announces];

static OTHER_HANDLE: mcp_proto_std::Router<State> = router![announces];

#[tool]
fn two_handles(_: &mcp_proto_tokio::ServerHandle, _: mcp_proto_tokio::ServerHandle) {}

struct Plain;

#[derive(Schema)]
struct NotSerialized {
    value: i64,
}

#[tool]
fn plain() -> Structured<Plain> {
    Structured(Plain)
}

#[tool]
fn not_serialized() -> Structured<NotSerialized> {
    Structured(NotSerialized { value: 1 })
}

mod download {
    #[derive(mcp_proto::ToolArguments)]
    pub struct Progress {
        pub percent: u8,
    }

    pub struct Call;
}

#[tool]
fn own_progress(progress: download::Progress) -> u8 {
    progress.percent
}

static OWN: Router<()> = router![own_progress];

#[tool]
fn own_call(call: download::Call) {}

// The macro recognizes a parameter by the name of its type, so an alias hides the name `Progress`.
type Download = download::Progress;

#[tool]
fn alias(Download { percent }: Download) -> u8 {
    percent
}

static ALIAS: Router<()> = router![alias];

fn main() {}
