//! Tables and configuration of a server, in the types of C: in most programs, constants in flash.
//!
//! The library reads the tables in place, and stores no copy of an entry. For `tools/list`, it converts one entry after
//! the other to a [`Tool`] on the stack.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};

use mcp_proto::json::{Json, Kind};
use mcp_proto::server::{Event, Feature, Resource, Tool};

use crate::event::mcp_event_t;
use crate::memory::{optional_string, slice, string};
use crate::request::Current;
use crate::status::mcp_status_t;

/// The tool only reads, and does not modify its environment.
pub const MCP_TOOL_READ_ONLY: u32 = 1;
/// The tool performs no destructive updates.
pub const MCP_TOOL_NOT_DESTRUCTIVE: u32 = 2;
/// Repeated calls with the same arguments have no additional effect.
pub const MCP_TOOL_IDEMPOTENT: u32 = 4;
/// The tool does not interact with external entities.
pub const MCP_TOOL_CLOSED_WORLD: u32 = 8;

/// A tool. All texts are UTF-8, and stay valid and unchanged as long as the server is used.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_tool_t {
    /// The name: 1 to 128 characters. These are ASCII letters, digits, `_`, `-` and `.`. The library checks neither the
    /// length nor the characters.
    pub name: *const c_char,
    /// The JSON Schema of the arguments, a JSON object, or NULL for any object. The library does not check arguments
    /// against the schema.
    pub input_schema: *const c_char,
    /// The description for the model, or NULL.
    pub description: *const c_char,
    /// The display name, or NULL.
    pub title: *const c_char,
    /// The JSON Schema of structured results, a JSON object, or NULL.
    pub output_schema: *const c_char,
    /// A sum of `MCP_TOOL_…`.
    pub hints: u32,
}

/// A resource. All texts are UTF-8, and stay valid and unchanged as long as the server is used.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_resource_t {
    /// The URI. The library does not check its syntax.
    pub uri: *const c_char,
    /// The name.
    pub name: *const c_char,
    /// The description, or NULL.
    pub description: *const c_char,
    /// The media type of the contents, or NULL. With NULL, text is `text/plain`, and bytes are
    /// `application/octet-stream`.
    pub mime_type: *const c_char,
}

/// An optional feature of a server, such as `mcp_feature_resources`. C programs only take the address of a feature.
pub struct mcp_feature_t {
    pub(crate) feature: &'static dyn Feature,
    pub(crate) check: fn(&Tables) -> Result<(), mcp_status_t>,
    pub(crate) handle: for<'a> fn(Event<'a>, &Tables, &mut mcp_event_t) -> Option<Current<'a>>,
}

/// The tools of a server: see the macro `MCP_TOOLS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mcp_tools_t {
    /// The array of entries.
    pub entries: *const mcp_tool_t,
    /// The number of entries in the array.
    pub count: usize,
}

/// The resources of a server: see the macro `MCP_RESOURCES`. All fields are zero for a server without resources.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mcp_resources_t {
    /// The address of `mcp_feature_resources`, or NULL for a server without resources.
    pub feature: *const mcp_feature_t,
    /// The array of entries.
    pub entries: *const mcp_resource_t,
    /// The number of entries in the array.
    pub count: usize,
}

/// The configuration of a server. All texts are UTF-8, and stay valid and unchanged as long as the server is used.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mcp_server_config_t {
    /// The name of the server.
    pub name: *const c_char,
    /// The version of the server.
    pub version: *const c_char,
    /// Instructions for the model, or NULL.
    pub instructions: *const c_char,
    /// The tools.
    pub tools: mcp_tools_t,
    /// The resources.
    pub resources: mcp_resources_t,
    /// Whether a second `initialize` restarts the session. Set this for a UART, on which the server cannot otherwise
    /// detect that a new client has replaced the old one.
    pub restart_on_initialize: bool,
}

/// The checked tables of a server.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    tools: &'static [mcp_tool_t],
    resources: &'static [mcp_resource_t],
    pub(crate) resources_feature: Option<&'static mcp_feature_t>,
}

impl Tables {
    /// Checks the tools of a configuration, and the resources if their `feature` is not NULL.
    ///
    /// # Errors
    /// `MCP_ERROR_NULL`: the array of a table is NULL although its `count` is not 0, a tool has no name, or a resource
    /// has no name or no URI. `MCP_ERROR_UTF8`: a text is not UTF-8. `MCP_ERROR_CONFIG`: two tools have the same name,
    /// two resources have the same URI, or a schema is not a JSON object.
    ///
    /// # Safety
    /// The pointers of the configuration and of its entries are NULL, or valid and unchanged for the life of the
    /// server.
    pub(crate) unsafe fn new(config: &mcp_server_config_t) -> Result<Tables, mcp_status_t> {
        let mcp_server_config_t { tools, resources, .. } = config;
        let tables = Tables {
            // SAFETY: the caller promises valid arrays.
            tools: unsafe { slice(tools.entries, tools.count) }?,
            // SAFETY: the caller promises valid arrays.
            resources: unsafe { slice(resources.entries, resources.count) }?,
            // SAFETY: the caller promises a valid pointer or NULL.
            resources_feature: unsafe { resources.feature.as_ref() },
        };
        for (index, entry) in tables.tools.iter().enumerate() {
            // SAFETY: the caller promises valid texts.
            is_new(tables.tool_index(unsafe { entry.tool() }?.name()), index)?;
            // SAFETY: the caller promises valid texts.
            if !unsafe { is_schema(entry.input_schema) && is_schema(entry.output_schema) } {
                return Err(mcp_status_t::MCP_ERROR_CONFIG);
            }
        }
        if let Some(resources) = tables.resources_feature {
            (resources.check)(&tables)?;
        }
        Ok(tables)
    }

    /// Checks the resources, with the errors of [`new`](Self::new). Only servers with resources link this function.
    pub(crate) fn check_resources(&self) -> Result<(), mcp_status_t> {
        for (index, entry) in self.resources.iter().enumerate() {
            // SAFETY: the texts are valid by the contract of `new`, the only constructor.
            is_new(self.resource_index(unsafe { entry.resource() }?.uri()), index)?;
        }
        Ok(())
    }

    /// Returns the tool at an index, or `None` if the table has no such index.
    pub(crate) fn tool(&self, index: usize) -> Option<Tool<'static>> {
        // SAFETY: the texts are valid by the contract of `new`, the only constructor.
        unsafe { self.tools.get(index)?.tool() }.ok()
    }

    /// Returns the resource at an index, or `None` if the table has no such index.
    pub(crate) fn resource(&self, index: usize) -> Option<Resource<'static>> {
        // SAFETY: the texts are valid by the contract of `new`, the only constructor.
        unsafe { self.resources.get(index)?.resource() }.ok()
    }

    /// Returns the index of the tool with this name, or `None` if there is no such tool.
    pub(crate) fn tool_index(&self, name: &str) -> Option<usize> {
        // SAFETY: the texts are valid by the contract of `new`, the only constructor.
        self.tools.iter().position(|entry| unsafe { string(entry.name) } == Ok(name))
    }

    /// Returns the index of the resource with this URI, or `None` if there is no such resource.
    pub(crate) fn resource_index(&self, uri: &str) -> Option<usize> {
        // SAFETY: the texts are valid by the contract of `new`, the only constructor.
        self.resources.iter().position(|entry| unsafe { string(entry.uri) } == Ok(uri))
    }
}

/// Fails if an earlier entry has the same key as the entry at `index`. The key is the name of a tool, or the URI of a
/// resource. `first` is the index of the first entry with this key.
fn is_new(first: Option<usize>, index: usize) -> Result<(), mcp_status_t> {
    if first == Some(index) { Ok(()) } else { Err(mcp_status_t::MCP_ERROR_CONFIG) }
}

/// Returns whether the schema is a JSON object or NULL. Not inlined, because each copy takes flash.
///
/// # Safety
/// The schema is NULL, or a string that does not change during the call.
#[inline(never)]
unsafe fn is_schema(schema: *const c_char) -> bool {
    // SAFETY: the caller promises a string, if the pointer is not NULL.
    let json = |schema| Json::parse(unsafe { CStr::from_ptr(schema) }.to_bytes());
    schema.is_null() || json(schema).is_ok_and(|schema| schema.kind() == Kind::Object)
}

impl mcp_tool_t {
    /// Converts the entry to a [`Tool`]. Fails if the name is NULL, or a text is not UTF-8.
    ///
    /// # Safety
    /// The texts are NULL, or valid and unchanged for the life of the server.
    unsafe fn tool(&self) -> Result<Tool<'static>, mcp_status_t> {
        // SAFETY: the caller promises texts that are NULL, or valid and unchanged.
        let text = |text| unsafe { optional_string(text) };
        // SAFETY: the caller promises texts that are NULL, or valid and unchanged.
        let mut tool = Tool::new(unsafe { string(self.name) }?, text(self.input_schema)?.unwrap_or("{}"));
        if let Some(description) = text(self.description)? {
            tool = tool.description(description);
        }
        if let Some(title) = text(self.title)? {
            tool = tool.title(title);
        }
        if let Some(schema) = text(self.output_schema)? {
            tool = tool.output_schema(schema);
        }
        let has = |hint: u32| self.hints & hint != 0;
        if has(MCP_TOOL_READ_ONLY) {
            tool = tool.read_only(true);
        }
        if has(MCP_TOOL_NOT_DESTRUCTIVE) {
            tool = tool.destructive(false);
        }
        if has(MCP_TOOL_IDEMPOTENT) {
            tool = tool.idempotent(true);
        }
        if has(MCP_TOOL_CLOSED_WORLD) {
            tool = tool.open_world(false);
        }
        Ok(tool)
    }
}

impl mcp_resource_t {
    /// Converts the entry to a [`Resource`]. Fails if the URI or the name is NULL, or a text is not UTF-8.
    ///
    /// # Safety
    /// The texts are NULL, or valid and unchanged for the life of the server.
    unsafe fn resource(&self) -> Result<Resource<'static>, mcp_status_t> {
        // SAFETY: the caller promises texts that are NULL, or valid and unchanged.
        let text = |text| unsafe { optional_string(text) };
        // SAFETY: the caller promises texts that are NULL, or valid and unchanged.
        let (uri, name) = unsafe { (string(self.uri)?, string(self.name)?) };
        let mut resource = Resource::new(uri, name);
        if let Some(description) = text(self.description)? {
            resource = resource.description(description);
        }
        if let Some(mime_type) = text(self.mime_type)? {
            resource = resource.mime_type(mime_type);
        }
        Ok(resource)
    }
}
