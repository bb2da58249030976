//! Cache hints of a result: lifetime and scope.
//!
//! Specification: 2026-07-28, *Caching*.

use crate::json::{Json, Writer};
use crate::protocol::objects::view::duration;
use crate::time::Millis;

/// The lifetime and scope of a cached result. Revisions up to `2025-11-25` do not define these hints. Without hints,
/// the lifetime is zero.
///
/// A change notification immediately invalidates a cached result. The application must then discard the result, because
/// [`is_fresh`](Self::is_fresh) only compares times.
///
/// Specification: 2026-07-28, *Caching*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// The lifetime in milliseconds, starting with the receipt of the result.
    pub fresh_for: Millis,
    /// Whether the result is the same for all users. If the value is `false`, the application must not show the result
    /// to other users.
    pub shared: bool,
}

impl Freshness {
    /// Writes the members `ttlMs` and `cacheScope`.
    pub(crate) fn write(self, out: &mut Writer<'_>) {
        out.field_unsigned("ttlMs", self.fresh_for.0);
        out.field_string("cacheScope", if self.shared { "public" } else { "private" });
    }

    /// Reads the cache hints of a result. A lifetime that is not an integer of at least 0 becomes zero.
    #[must_use]
    pub fn from_json(result: Json<'_>) -> Freshness {
        let [time, scope] = result.pick(["ttlMs", "cacheScope"]);
        Freshness {
            fresh_for: time.and_then(duration).unwrap_or(Millis::ZERO),
            shared: scope.and_then(Json::string).is_some_and(|scope| scope == "public"),
        }
    }

    /// Returns whether a result that arrived at the time `since` is still fresh at the time `now`.
    #[must_use]
    pub fn is_fresh(&self, since: Millis, now: Millis) -> bool {
        now < since.plus(self.fresh_for)
    }
}
