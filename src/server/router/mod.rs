//! `Router`: tools and the functions that handle their calls.

pub(crate) mod into_tool_result;

use crate::error::ProtocolError;
use crate::protocol::objects::tool::Tool;
use crate::server::call::Call;
use crate::server::features::tools::Tools;

/// A function that handles the calls of one tool. `C` is the context, often the state of the application.
pub type ToolHandler<C> = fn(&mut C, Call<'_>);

/// A static catalogue of tools, each with the function that handles its calls.
///
/// The attribute [`tool`](macro@crate::tool) makes a function a tool, and the macro [`router!`](crate::router) lists
/// tools. The name, the description, the schemas and the handler of a tool stand in one place:
///
/// ```
/// use mcp_proto::server::{Event, Router, ServerConfig};
/// use mcp_proto::{Server, ToolArguments, router, tool};
///
/// struct Lamp {
///     is_on: bool,
/// }
///
/// #[derive(ToolArguments)]
/// struct Switch {
///     on: bool,
/// }
///
/// /// Turns the lamp on or off.
/// #[tool(idempotent)]
/// fn switch(lamp: &mut Lamp, Switch { on }: Switch) -> &'static str {
///     lamp.is_on = on;
///     "done"
/// }
///
/// static ROUTER: Router<Lamp> = router![switch];
/// static INFO: ServerConfig = ServerConfig::new("lamp", "1.0.0").features(&[ROUTER.tools()]);
///
/// fn on_event(server: &mut Server<'_>, lamp: &mut Lamp) {
///     match server.event() {
///         Some(Event::Call(call)) => ROUTER.call(lamp, call),
///         _ => {}
///     }
/// }
/// # assert_eq!(ROUTER.tools().get("switch").unwrap().input_schema(), Switch::INPUT_SCHEMA);
/// # let _ = on_event;
/// ```
///
/// The router has no heap and no state. `C` is the context that [`call`](Router::call) lends to the handlers. A handler
/// with a parameter `&T` accepts each context that implements `Borrow<T>`; `&mut T` requires `BorrowMut<T>`. Each type
/// implements both for itself. Implement them for a context that has several parts.
#[derive(Debug)]
pub struct Router<'t, C: ?Sized> {
    tools: Tools<'t>,
    handlers: &'t [ToolHandler<C>],
}

impl<'t, C: ?Sized> Router<'t, C> {
    /// Creates a router. The macro [`router!`](crate::router) calls this function. The two lists have the same order.
    ///
    /// # Panics
    /// Two tools have the same name, or an annotation `x-mcp-header` is invalid, like in [`Tools::new`]. The lists have
    /// different lengths. In constants and statics, a panic is a compile error.
    #[must_use]
    pub const fn new(catalogue: &'t [Tool<'t>], handlers: &'t [ToolHandler<C>]) -> Router<'t, C> {
        assert!(catalogue.len() == handlers.len(), "each tool needs one handler");
        Router { tools: Tools::new(catalogue), handlers }
    }

    /// Adds `"structuredContent":{}` to results without structured content: see
    /// [`Tools::always_structured_content`].
    #[must_use]
    pub const fn always_structured_content(mut self) -> Self {
        self.tools = self.tools.always_structured_content();
        self
    }

    /// The feature *tools* of this router, for [`ServerConfig::features`](crate::server::ServerConfig::features).
    #[must_use]
    pub const fn tools(&self) -> &Tools<'t> {
        &self.tools
    }

    /// The handler of the tool with this name. `None` if the router has no such tool.
    ///
    /// A server with several catalogues can pass a call to the router that has its tool.
    #[must_use]
    pub fn handler(&self, name: &str) -> Option<ToolHandler<C>> {
        let mut entries = self.tools.entries().iter().zip(self.handlers);
        entries.find(|(tool, _)| tool.name() == name).map(|(_, handler)| *handler)
    }

    /// Passes a call to the handler of its tool, which responds.
    ///
    /// A tool of another catalogue is answered as unknown.
    pub fn call(&self, context: &mut C, call: Call<'_>) {
        match self.handler(call.name()) {
            Some(handler) => handler(context, call),
            None => call.reply.state.refuse(&call.reply.pending, ProtocolError::UnknownTool),
        }
    }
}

impl<C: ?Sized> Clone for Router<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for Router<'_, C> {}
