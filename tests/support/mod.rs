//! Harnesses that run servers, clients, and pairs of both.

pub(crate) mod client;
pub(crate) mod pair;
pub(crate) mod server;
pub(crate) mod transport;

/// The folder of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Pseudorandom numbers from a seed (xorshift).
#[derive(Clone)]
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// Input of a test, printed if the test fails.
pub(crate) struct FailureContext(pub String);

impl Drop for FailureContext {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("failed with: {}", self.0);
        }
    }
}
