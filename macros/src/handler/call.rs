//! Generates the function that decodes the values of a request, and calls the handler.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Ident, Type};

use crate::handler::kind::Kind;
use crate::handler::signature::{Parameter, Signature};
use crate::handler::{Handler, Role, handler_name, is_named};
use crate::parse::with_static_lifetimes;
use crate::scope::mentions;

/// The memory for all arguments of a prompt, in bytes. Only programs without a heap have this limit.
const ARGUMENTS: usize = 256;
/// The memory for one variable, or for the typed text of a completion, in bytes. Like [`ARGUMENTS`], this limit applies
/// only to programs without a heap.
const TEXT: usize = 128;

/// The code that calls a handler after its values are decoded, and responds.
pub(super) struct Invocation {
    /// The generic parameters, of which `__C` is the context.
    pub(super) generics: TokenStream,
    pub(super) bounds: TokenStream,
    pub(super) code: TokenStream,
}

impl Handler {
    /// Generates the function that handles a request, and a function that returns the first as a `routes::Handler`.
    pub(crate) fn handler(&self) -> TokenStream {
        let Handler { signature: Signature { name, visibility, .. }, root, .. } = self;
        let (call, handler) = (format_ident!("__call_{}", name), handler_name(name));
        let request = format_ident!("{}", self.kind.request());
        let Invocation { generics, bounds, code } = match self.is_deferred() {
            true => self.deferred_invocation(),
            false => self.immediate_invocation(),
        };
        let body = match self.kind {
            Kind::Tool => self.call_tool(&code),
            Kind::Prompt => self.get_prompt(&code),
            Kind::Resource => self.read_resource(&code),
            Kind::Complete => self.complete(&code),
        };
        let variant = match self.kind {
            Kind::Tool => quote!(Tool),
            Kind::Prompt => quote!(Prompt),
            Kind::Resource if self.has_template() => quote!(Template),
            Kind::Resource => quote!(Resource),
            Kind::Complete => quote!(Completion),
        };
        let call_path = self.path(&call);
        quote!(
            #[doc(hidden)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, deprecated, unused_variables)]
            #visibility fn #call<#generics>(__context: &mut __C, __request: #root::server::#request<'_>) where #bounds {
                #body
            }

            #[doc(hidden)]
            #[allow(deprecated)]
            #visibility const fn #handler<#generics>() -> #root::server::routes::Handler<__C> where #bounds {
                #root::server::routes::Handler::#variant(#call_path)
            }
        )
    }

    /// Generates the call of a handler that runs in the event loop.
    fn immediate_invocation(&self) -> Invocation {
        let lifetimes = self.signature.generics.lifetimes();
        let (bound, state) = self.context();
        let (generics, result) = (quote!(#(#lifetimes,)* #bound), self.function_call(&state));
        let code = match self.kind {
            _ if self.responds() => result,
            Kind::Complete => {
                let respond = match self.values().next() {
                    Some(_) => quote!(__request.values(__values)),
                    None => quote!(__request.matching(__values)),
                };
                let root = &self.root;
                self.unless_error(
                    &result,
                    &respond,
                    &quote!(#root::server::routes::refuse(__request, __error)),
                )
            }
            _ => quote!(__request.respond(#result)),
        };
        let (bounds, server) = self.server_handle(&quote!(__context));
        Invocation { generics, bounds, code: quote!({ #server #code }) }
    }

    /// Returns the path of the annotated function, or of a generated function next to it. If the annotated function has
    /// a receiver, or `Self` in its signature, both are in an `impl` block, so the path begins with `Self`.
    pub(super) fn path(&self, name: &Ident) -> TokenStream {
        let own_type = [format_ident!("Self")];
        let has_own_type = |ty: TokenStream| mentions(ty, &own_type);
        let is_associated = |parameter: &Parameter| match parameter {
            Parameter::Receiver { .. } => true,
            Parameter::Typed(_, ty) => has_own_type(ty.to_token_stream()),
        };
        let Signature { parameters, output, .. } = &self.signature;
        match parameters.iter().any(is_associated) || output.clone().is_some_and(has_own_type) {
            true => quote!(Self::#name),
            false => quote!(#name),
        }
    }

    /// Generates the response to a completion, from the result of the function. `respond` uses `__values`, and `refuse`
    /// uses `__error`. A `Result` can be iterated like a list of values, so no trait tells them apart: the macro
    /// recognizes a `Result` by its name in the signature.
    pub(super) fn unless_error(
        &self,
        result: &TokenStream,
        respond: &TokenStream,
        refuse: &TokenStream,
    ) -> TokenStream {
        let output = self.signature.output.clone().and_then(|output| syn::parse2(output).ok());
        match output.is_some_and(|output: Type| is_named(&output, "Result")) {
            true => quote!(match #result {
                ::core::result::Result::Ok(__values) => #respond,
                ::core::result::Result::Err(__error) => #refuse,
            }),
            false => quote!({
                let __values = #result;
                #respond
            }),
        }
    }

    fn has_template(&self) -> bool {
        self.attributes.uri.as_ref().is_some_and(|uri| uri.value().contains('{'))
    }

    /// Generates the call of the function. The names of the values are `__value_0`, `__value_1` and so on.
    fn function_call(&self, state: &TokenStream) -> TokenStream {
        let path = self.path(&self.signature.name);
        let mut values = 0u32..;
        let values = self.roles.iter().map(|role| match role {
            Role::State { .. } => state.clone(),
            Role::Request => quote!(__request),
            Role::Server { argument, .. } => argument.clone(),
            // Does not occur, because a handler with such a parameter is deferred.
            Role::Part(_) => quote!(),
            Role::Value { .. } => {
                let value = format_ident!("__value_{}", values.next().unwrap_or_default());
                quote!(#value)
            }
        });
        quote!(#path(#(#values),*))
    }

    fn call_tool(&self, code: &TokenStream) -> TokenStream {
        match self.values().next() {
            Some(_) => quote!(__request.with(|__request, __value_0| #code)),
            None => code.clone(),
        }
    }

    fn get_prompt(&self, code: &TokenStream) -> TokenStream {
        let root = &self.root;
        let Some((_, ty)) = self.values().next() else { return code.clone() };
        let ty = with_static_lifetimes(ty);
        quote!({
            const __FIELDS: &#root::schema::Fields = <#ty as #root::schema::Schema>::NODE.fields();
            const __SCALARS: &[(&::core::primitive::str, #root::server::routes::Scalar); __FIELDS.fields.len()] =
                &#root::server::routes::scalars(__FIELDS);
            let mut __space = #root::server::routes::Space::<#ARGUMENTS>::new();
            match #root::server::routes::arguments(&__request, __SCALARS, &mut __space) {
                ::core::result::Result::Ok(__value_0) => #code,
                ::core::result::Result::Err(__error) => __request.invalid(__error),
            }
        })
    }

    fn read_resource(&self, code: &TokenStream) -> TokenStream {
        let (root, uri) = (&self.root, &self.attributes.uri);
        let values = self.values().enumerate().map(|(index, (name, ty))| {
            let (value, name) = (format_ident!("__value_{index}"), name.map(|name| name.unraw().to_string()));
            let (scalar, ty) = (format_ident!("__SCALAR_{index}"), with_static_lifetimes(ty));
            quote!(
                const #scalar: #root::server::routes::Scalar =
                    #root::server::routes::Scalar::new(&<#ty as #root::schema::Schema>::NODE);
                let mut __space = #root::server::routes::Space::<#TEXT>::new();
                let ::core::option::Option::Some(#value) =
                    #root::server::routes::variable(#uri, &__request, #name, #scalar, &mut __space)
                else {
                    return __request.not_found();
                };
            )
        });
        quote!({ #(#values)* #code })
    }

    fn complete(&self, code: &TokenStream) -> TokenStream {
        let root = &self.root;
        if self.values().next().is_none() {
            return code.clone();
        }
        quote!({
            let mut __space = #root::server::routes::Space::<#TEXT>::new();
            match #root::server::routes::typed(&__request, &mut __space) {
                ::core::option::Option::Some(__value_0) => #code,
                ::core::option::Option::None => __request.values([""; 0]),
            }
        })
    }
}
