//! Generates the call of a handler that runs outside of the event loop: as an `async` task, or on a worker thread.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Result, Type};

use crate::handler::call::Invocation;
use crate::handler::{Handler, Kind, Role, is_named, is_text_reference};
use crate::parse::with_static_lifetimes;

/// The types of parameters whose values come from the deferred request.
const REQUEST_PARTS: [&str; 5] = ["Ask", "Cancellation", "ClientDetails", "Log", "Progress"];

/// Returns whether a type has a lifetime other than `'static`. Lifetimes after `impl`, `dyn` or `fn` do not count,
/// because they may be local to that inner type, as in `fn(&str)`.
fn is_borrowed(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(ToString::to_string).unwrap_or_default();
        match token {
            TokenTree::Ident(name) if ["impl", "dyn", "fn"].contains(&&*name.to_string()) => return false,
            TokenTree::Punct(mark) if mark.as_char() == '&' && next != "'" => return true,
            TokenTree::Punct(mark) if mark.as_char() == '\'' && next != "static" => return true,
            TokenTree::Group(group) if is_borrowed(group.stream()) => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether a parameter of this type comes from the deferred request.
pub(super) fn is_request_part(ty: &Type) -> bool {
    REQUEST_PARTS.iter().any(|name| is_named(ty, name))
}

impl Handler {
    /// Returns whether the handler runs outside of the event loop.
    pub(super) fn is_deferred(&self) -> bool {
        let has_parts = self.roles.iter().any(|role| matches!(role, Role::Part(_)));
        self.signature.asynchronous.is_some() || self.attributes.is_blocking || has_parts
    }

    /// Refuses `async` together with `blocking`. Also refuses parameters and borrowed types that a handler outside of
    /// the event loop cannot have.
    pub(super) fn check_deferred(&self) -> Result<()> {
        if let Some(span) = self.signature.asynchronous.filter(|_| self.attributes.is_blocking) {
            return Err(Error::new(span, "an `async` handler is a task, so it cannot be `blocking`"));
        }
        for (role, parameter) in self.roles.iter().zip(&self.signature.parameters) {
            let reason = match role {
                Role::State { is_mutable: true, .. } => {
                    "this handler runs concurrently with others, so it shares the state: take `&self` or `&T`"
                }
                Role::Request => {
                    "this handler runs after the event, so it responds with the value that it returns; for a JSON-RPC \
                     error, return a `Result` with `server::Failure::error`"
                }
                Role::Part(ty) if self.kind == Kind::Complete && is_named(ty, "Ask") => {
                    "a completion cannot require input of the client: take no `Ask`"
                }
                _ => continue,
            };
            if self.is_deferred() {
                return Err(Error::new(parameter.span(), reason));
            }
        }
        self.check_owned()
    }

    /// Refuses borrowed structs of arguments, and borrowed results, of a handler outside of the event loop. The server
    /// releases the request before the handler runs. Variables of a template, and texts to complete, may be `&str`,
    /// because the generated code copies these texts.
    fn check_owned(&self) -> Result<()> {
        if !self.is_deferred() {
            return Ok(());
        }
        let has_struct = matches!(self.kind, Kind::Tool | Kind::Prompt);
        if let Some((_, ty)) = self.values().find(|(_, ty)| has_struct && is_borrowed(ty.to_token_stream())) {
            let reason = "this handler runs after the event, so it owns its arguments: write `String` instead of `&str` \
                          in the struct, which then has no lifetime";
            return Err(Error::new(ty.span(), reason));
        }
        match self.signature.output.as_ref().filter(|ty| is_borrowed((*ty).clone())) {
            Some(output) => {
                let reason = "this handler runs concurrently with others, so it owns its result: return a `String` \
                              instead of a `&str`";
                Err(Error::new(output.span(), reason))
            }
            None => Ok(()),
        }
    }

    /// Generates the code that defers the request `__request`, and starts the handler.
    pub(super) fn deferred_invocation(&self) -> Invocation {
        let Handler { signature, root, kind, .. } = self;
        let (run, method) = match signature.asynchronous {
            Some(_) => (quote!(RunAsync), quote!(run_async)),
            None => (quote!(RunBlocking), quote!(run_blocking)),
        };
        let request = format_ident!("{}", kind.request());
        let host = quote!(<__C as #root::server::HostContext>);
        let mut bounds = quote!(
            __C: #root::server::HostContext,
            #host::Server: for<'__q> #root::server::#run<#root::server::#request<'__q>, #host::Request>,
        );
        let (own, owned) = self.owned_values();
        let (parts, arguments) = self.deferred_arguments(&owned, &mut bounds);
        let (server_bounds, server) = self.server_handle(&quote!(&__shared));
        bounds.extend(server_bounds);
        let path = self.path(&signature.name);
        let (copies, response) = self.deferred_response();
        let respond = quote!(
            move |__reply: #root::server::Reply<'_>, __missing: #root::ClientCapabilities| #response
        );
        let (start, observes) = match signature.asynchronous {
            Some(_) => {
                let observes = self.observes_cancellation();
                let future = quote!(async move { let __result = #path(#(#arguments),*).await; #respond });
                (future, Some(quote!(#observes,)))
            }
            None => (quote!(let __result = #path(#(#arguments),*); #respond), None),
        };
        let code = quote!({
            #own
            #copies
            let __shared = ::core::clone::Clone::clone(__context);
            #root::server::#run::#method(
                #root::server::HostContext::server(__context), __request, #observes move |__deferred| {
                    #parts
                    #server
                    #start
                })
        });
        Invocation { generics: quote!(__C), bounds, code }
    }

    /// Generates the owned values of the arguments, and the expressions that pass them to the function.
    fn owned_values(&self) -> (TokenStream, Vec<TokenStream>) {
        let (mut own, mut passed) = (TokenStream::new(), Vec::new());
        for (index, (_, ty)) in self.values().enumerate() {
            let value = format_ident!("__value_{index}");
            let is_lent = is_text_reference(ty);
            let owned = match is_lent {
                true => quote!(::std::string::String),
                false => with_static_lifetimes(ty),
            };
            own.extend(match self.kind {
                Kind::Complete => quote!(let #value: #owned = ::core::convert::From::from(#value);),
                _ => quote!(let #value: #owned = #value;),
            });
            passed.push(if is_lent { quote!(&#value) } else { quote!(#value) });
        }
        (own, passed)
    }

    /// Generates the code that takes the parts of the deferred request, and the arguments of the function. Adds the
    /// bounds of this code to `bounds`.
    fn deferred_arguments(
        &self,
        values: &[TokenStream],
        bounds: &mut TokenStream,
    ) -> (TokenStream, Vec<TokenStream>) {
        let root = &self.root;
        let (mut parts, mut values) = (TokenStream::new(), values.iter());
        let arguments = self.roles.iter().enumerate().map(|(index, role)| match role {
            Role::State { ty, .. } => {
                let ty = ty.as_ref().map_or_else(|| quote!(Self), with_static_lifetimes);
                bounds.extend(quote!(__C: #root::server::routes::Lend<#ty>,));
                quote!(<__C as ::core::borrow::Borrow<#ty>>::borrow(&__shared))
            }
            Role::Value { .. } => values.next().cloned().unwrap_or_default(),
            Role::Part(ty) => {
                let (ty, part) = (with_static_lifetimes(ty), format_ident!("__part_{index}"));
                let from = quote!(#root::server::FromRequest<<__C as #root::server::HostContext>::Request>);
                bounds.extend(quote!(#ty: #from,));
                parts.extend(quote!(let #part = <#ty as #from>::from_request(__deferred);));
                quote!(#part)
            }
            Role::Server { argument, .. } => argument.clone(),
            // Does not occur, because `check_deferred` refuses this parameter.
            Role::Request => quote!(),
        });
        let arguments = arguments.collect();
        (parts, arguments)
    }

    /// Generates two parts: code that copies the request's properties for the response, and code that responds with
    /// `__result`.
    fn deferred_response(&self) -> (TokenStream, TokenStream) {
        let root = &self.root;
        // The error of a missing capability replaces the text of a failure.
        let unless_missing = |result: TokenStream, respond: TokenStream| {
            quote!({
                let __failure = #root::server::#result::failure(&__result);
                let ::core::option::Option::Some(__reply) =
                    #root::server::routes::unless_missing(__reply, __missing, __failure)
                else {
                    return;
                };
                #respond
            })
        };
        let refuse = quote!(#root::server::HandlerError::refuse(__error, __reply));
        let completion = |respond| self.unless_error(&quote!(__result), respond, &refuse);
        match self.kind {
            Kind::Tool => {
                let respond = quote!(#root::server::IntoToolResult::respond(__result, __reply));
                (quote!(), unless_missing(quote!(IntoToolResult), respond))
            }
            Kind::Prompt => {
                let respond = quote!(#root::server::IntoPromptResult::respond(__result, __reply));
                (quote!(), unless_missing(quote!(IntoPromptResult), respond))
            }
            Kind::Resource => {
                let respond = quote!(#root::server::routes::read_resource(&__uri, __reply).respond(__result));
                (
                    quote!(let __uri = ::std::string::String::from(__request.uri());),
                    unless_missing(quote!(IntoResourceResult), respond),
                )
            }
            Kind::Complete if self.values().next().is_some() => {
                (quote!(), completion(&quote!(__reply.values(::core::option::Option::None, __values))))
            }
            Kind::Complete => (
                quote!(let __typed = ::std::string::ToString::to_string(&__request.value());),
                completion(&quote!(#root::server::routes::matching(__reply, &__typed, __values))),
            ),
        }
    }

    /// Returns whether the handler has a parameter that reports the cancellation of its request.
    fn observes_cancellation(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Part(ty) if is_named(ty, "Cancellation")))
    }
}
