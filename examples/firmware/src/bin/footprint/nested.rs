//! Measures the stack that each level of nested typed arguments takes.

use core::hint::black_box;
use core::sync::atomic::{AtomicUsize, Ordering};

use mcp_proto::{ToolArguments, json};
use serde::{Deserialize, Deserializer};

/// The address of the stack where the innermost value was last decoded.
static DEEPEST: AtomicUsize = AtomicUsize::new(0);

/// A number that records the address of the stack when it is decoded.
struct Probe(u8);

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Probe, D::Error> {
        DEEPEST.store(here(), Ordering::Relaxed);
        u8::deserialize(deserializer).map(Probe)
    }
}

impl mcp_proto::schema::Schema for Probe {
    const NODE: mcp_proto::schema::Node = u8::NODE;
}

/// Returns the address of the current end of the stack.
#[inline(never)]
fn here() -> usize {
    let local = 0u8;
    black_box(&raw const local).addr()
}

/// Defines nested types, each with its own name for its inner value.
macro_rules! levels {
    ($($outer:ident { $member:ident: $inner:ty })*) => {$(
        #[derive(ToolArguments)]
        struct $outer {
            #[tool(range = 0..=100)]
            level: u8,
            $member: $inner,
            offset: Option<i32>,
        }

        impl Sum for $outer {
            fn sum(&self) -> i32 {
                i32::from(self.level) + self.offset.unwrap_or_default() + self.$member.sum()
            }
        }
    )*};
}

/// The sum of the numbers at all levels.
trait Sum {
    fn sum(&self) -> i32;
}

impl Sum for Probe {
    fn sum(&self) -> i32 {
        self.0.into()
    }
}

impl<T: Sum> Sum for Option<T> {
    fn sum(&self) -> i32 {
        self.as_ref().map_or(0, Sum::sum)
    }
}

levels! { One { probe: Probe } Two { one: One } Three { two: Two } Four { three: Three } }
levels! { First { probe: Probe } Second { one: Option<First> } Third { two: Option<Second> } Fourth { three: Option<Third> } }

/// Decodes `text`. Returns the stack size between this function and the innermost value, or 0 if decoding fails.
#[inline(never)]
fn depth<T: for<'de> Deserialize<'de>>(text: &mut [u8], sum: fn(&T) -> i32) -> usize {
    let decoded = json::decode_in_place::<T>(text);
    let sum = decoded.as_ref().map_or(-1, sum);
    if black_box(sum) < 0 { 0 } else { here() - DEEPEST.load(Ordering::Relaxed) }
}

const FLAT: &[u8; 32] = br#"{"level":1,"probe":5,"offset":2}"#;
const NESTED: &[u8; 77] = br#"{"level":1,"three":{"level":2,"two":{"level":3,"one":{"level":4,"probe":5}}}}"#;

/// Returns the bytes of stack for each level beyond the first.
pub(super) fn bytes_of_a_level() -> usize {
    (depth(&mut { *NESTED }, Four::sum) - depth(&mut { *FLAT }, One::sum)) / 3
}

/// Returns the bytes of stack for each level that is an `Option`.
pub(super) fn bytes_of_an_optional_level() -> usize {
    (depth(&mut { *NESTED }, Fourth::sum) - depth(&mut { *FLAT }, First::sum)) / 3
}
