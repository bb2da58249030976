//! Types that the derive macros refuse. Each refused type is a compile error.
//!
//! Bounds that the type of the field cannot hold, a default out of bounds, and a string format for a number:
//!
//! ```compile_fail
//! #[derive(mcp_proto::ToolArguments)]
//! struct Dim {
//!     #[tool(range = 0..=300)]
//!     percent: u8,
//! }
//! ```
//!
//! ```compile_fail
//! #[derive(mcp_proto::ToolArguments)]
//! struct Dim {
//!     #[tool(range = 0..=100, default = 101)]
//!     percent: u8,
//! }
//! ```
//!
//! ```compile_fail,E0080
//! #[derive(mcp_proto::ToolArguments)]
//! struct Wait {
//!     #[tool(format = "date-time")]
//!     until: u64,
//! }
//! ```
//!
//! A map whose keys are neither strings nor an enumeration:
//!
//! ```compile_fail,E0080
//! #[derive(mcp_proto::ToolArguments)]
//! struct Levels {
//!     levels: std::collections::BTreeMap<u8, bool>,
//! }
//! println!("{}", <Levels as mcp_proto::ToolArguments>::INPUT_SCHEMA);
//! ```
//!
//! A struct that contains itself may be the type of a field, but not the content of a variant:
//!
//! ```compile_fail,E0080
//! #[derive(mcp_proto::ToolArguments)]
//! struct List {
//!     next: Option<Box<List>>,
//! }
//!
//! #[derive(mcp_proto::ToolArguments)]
//! #[serde(tag = "kind")]
//! enum Lists {
//!     One(List),
//! }
//! println!("{}", <Lists as mcp_proto::ToolArguments>::INPUT_SCHEMA);
//! ```
//!
//! A header on a floating-point field, and a field with the name of the tag:
//!
//! ```compile_fail,E0080
//! #[derive(mcp_proto::ToolArguments)]
//! struct Buy {
//!     #[tool(header = "Price")]
//!     price: f64,
//! }
//! ```
//!
//! ```compile_fail
//! #[derive(mcp_proto::ToolArguments)]
//! #[serde(tag = "kind")]
//! enum Dim {
//!     Down { kind: u8 },
//! }
//! ```
//!
//! A list of numbers in a form:
//!
//! ```compile_fail,E0080
//! #[derive(mcp_proto::FormContent)]
//! struct Corners {
//!     corners: Vec<u8>,
//! }
//! ```
