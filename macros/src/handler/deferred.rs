//! Generates the functions of a tool that runs outside of the event loop: as a task, or on a worker thread.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, Result, Type};

use crate::handler::{Handler, Role, handler_name, is_named};
use crate::parse::with_static_lifetimes;

/// The names of the types that a handler gets from its deferred request.
const REQUEST_PARTS: [&str; 5] = ["Ask", "Cancellation", "ClientDetails", "Log", "Progress"];

/// Whether a parameter of this type comes from the deferred request.
pub(super) fn is_request_part(ty: &Type) -> bool {
    REQUEST_PARTS.iter().any(|name| is_named(ty, name))
}

impl Handler {
    /// Whether the handler runs outside of the event loop.
    pub(super) fn is_deferred(&self) -> bool {
        let has_parts = self.roles.iter().any(|role| matches!(role, Role::Part(_)));
        self.signature.asynchronous.is_some() || self.attributes.is_blocking || has_parts
    }

    /// Refuses parameters and items that a handler outside of the event loop cannot have.
    pub(super) fn check_deferred(&self) -> Result<()> {
        if let Some(span) = self.signature.asynchronous.filter(|_| self.attributes.is_blocking) {
            return Err(Error::new(span, "an `async` handler is a task, so it cannot be `blocking`"));
        }
        for (role, parameter) in self.roles.iter().zip(&self.signature.parameters) {
            let reason = match role {
                Role::State { is_mutable: true, .. } => {
                    "this handler runs beside others, so it shares the state: take `&self` or `&T`"
                }
                Role::Request => {
                    "this handler runs after the event, so it responds with the value that it returns"
                }
                _ => continue,
            };
            if self.is_deferred() {
                return Err(Error::new(parameter.span(), reason));
            }
        }
        Ok(())
    }

    /// Generates the function that defers a call, and the function that returns the `Handler`.
    pub(super) fn deferred_handler(&self) -> TokenStream {
        let Handler { signature, roles, root, .. } = self;
        let (name, visibility) = (&signature.name, &signature.visibility);
        let (call, handler) = (format_ident!("__call_{name}"), handler_name(name));
        let (path, call_path) = (self.path(name), self.path(&call));
        let (run, method) = match signature.asynchronous {
            Some(_) => (quote!(#root::server::RunAsync), quote!(run_async)),
            None => (quote!(#root::server::RunBlocking), quote!(run_blocking)),
        };
        let server = quote!(<__C as #root::server::HostContext>::Server);
        let mut bounds = quote!(__C: #root::server::HostContext, #server: #run,);
        let (mut parts, mut values) = (TokenStream::new(), Vec::new());
        for (index, role) in roles.iter().enumerate() {
            values.push(match role {
                Role::State { ty, .. } => {
                    let ty = ty.as_ref().map_or_else(|| quote!(Self), with_static_lifetimes);
                    bounds.extend(quote!(__C: ::core::borrow::Borrow<#ty>,));
                    quote!(<__C as ::core::borrow::Borrow<#ty>>::borrow(&__context))
                }
                Role::Value { .. } => quote!(__value),
                Role::Part(ty) => {
                    let (ty, part) = (with_static_lifetimes(ty), format_ident!("__part_{index}"));
                    let from = quote!(#root::server::FromRequest<<#server as #run>::Request>);
                    bounds.extend(quote!(#ty: #from,));
                    parts.extend(quote!(let #part = <#ty as #from>::from_request(__request);));
                    quote!(#part)
                }
                // `check_deferred` refuses this parameter.
                Role::Request => quote!(),
            });
        }
        let (result, observes) = match signature.asynchronous {
            Some(_) => {
                let observes = self.observes_cancellation();
                (quote!(async move { #path(#(#values),*).await }), Some(quote!(#observes,)))
            }
            None => (quote!(#path(#(#values),*)), None),
        };
        let run = quote!({
            let __context = ::core::clone::Clone::clone(__host);
            #run::#method(#root::server::HostContext::server(__host), __call, #observes move |__request| {
                #parts
                #result
            })
        });
        let body = match self.values().next().map(|(_, ty)| with_static_lifetimes(ty)) {
            Some(ty) => quote!(__call.with(|__call, __value: #ty| #run)),
            None => run,
        };
        quote!(
            #[doc(hidden)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, unused_variables)]
            #visibility fn #call<__C>(__host: &mut __C, __call: #root::server::Call<'_>) where #bounds {
                #body
            }

            #[doc(hidden)]
            #visibility const fn #handler<__C>() -> #root::server::routes::Handler<__C> where #bounds {
                #root::server::routes::Handler::Tool(#call_path)
            }
        )
    }

    /// Whether the handler has a parameter that reports the cancellation of its call.
    fn observes_cancellation(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Part(ty) if is_named(ty, "Cancellation")))
    }
}
