//! Tools whose schemas are generated at run time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::protocol::objects::tool::Tool;
use crate::server::feature::Feature;
use crate::server::features::catalog::position;
use crate::server::features::tools::Tools;
use crate::server::router::Router;

/// Panics if a schema of a tool is generated at run time.
pub(super) const fn check(tools: &Tools<'_>) {
    assert!(
        position!(tools.entries(), |tool, index| tool.has_generators()).is_none(),
        "a schema of a tool is generated at run time: use `generated_features()` instead"
    );
}

impl<C: ?Sized> Router<'static, C> {
    /// Returns the features of the router, with schemas that are generated at run time. The type `Schemars` of the
    /// adapters for hosts has such schemas (feature `schemars`).
    ///
    /// Call this method once, because each call generates the schemas and leaks the list.
    ///
    /// # Panics
    /// The schema of a tool's arguments or result does not describe an object, or breaks a rule of [`Tools::new`].
    #[must_use]
    pub fn generated_features(&self) -> &'static [&'static dyn Feature] {
        let features = self.tables.features.0;
        let entries = self.tables.tools.entries();
        if entries.is_empty() {
            return features;
        }
        let entries: Vec<Tool<'static>> = entries.iter().map(|tool| tool.generated()).collect();
        let tools: &'static Tools<'static> = Box::leak(Box::new(Tools::new(entries.leak())));
        // The tools are the first feature.
        let mut features = features.to_vec();
        if let Some(first) = features.first_mut() {
            *first = tools;
        }
        features.leak()
    }
}
