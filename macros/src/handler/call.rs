//! Generates the function that decodes the values of a request, and calls the handler.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use crate::handler::kind::Kind;
use crate::handler::signature::{Parameter, Signature};
use crate::handler::{Handler, Role, handler_name};
use crate::parse::with_static_lifetimes;

/// The memory for all arguments of a prompt on a board, in bytes.
const ARGUMENTS: usize = 256;
/// The memory for one variable, or a text to complete.
const TEXT: usize = 128;

impl Handler {
    /// Generates the function that handles a request, and the function that returns the `Handler`.
    pub(crate) fn handler(&self) -> TokenStream {
        let Handler { signature: Signature { name, visibility, generics, .. }, root, .. } = self;
        let (call, handler) = (format_ident!("__call_{name}"), handler_name(name));
        let request = format_ident!("{}", self.kind.request());
        let lifetimes: Vec<_> = generics.lifetimes().collect();
        let (bound, state) = self.context();
        let body = match self.kind {
            Kind::Tool if self.is_deferred() => return self.deferred_handler(),
            Kind::Tool => self.call_tool(&state),
            Kind::Prompt => self.get_prompt(&state),
            Kind::Resource => self.read_resource(&state),
            Kind::Complete => self.complete(&state),
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
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, unused_variables)]
            #visibility fn #call<#(#lifetimes,)* #bound>(__context: &mut __C, __request: #root::server::#request<'_>) {
                #body
            }

            #[doc(hidden)]
            #visibility const fn #handler<#(#lifetimes,)* #bound>() -> #root::server::routes::Handler<__C> {
                #root::server::routes::Handler::#variant(#call_path)
            }
        )
    }

    /// The path of a function next to the annotated one. Only a receiver shows that the function is in an `impl` block.
    pub(super) fn path(&self, name: &Ident) -> TokenStream {
        let is_receiver = |parameter: &Parameter| matches!(parameter, Parameter::Receiver { .. });
        match self.signature.parameters.iter().any(is_receiver) {
            true => quote!(Self::#name),
            false => quote!(#name),
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
            // A handler with such a parameter is deferred.
            Role::Part(_) => quote!(),
            Role::Value { .. } => {
                let value = format_ident!("__value_{}", values.next().unwrap_or_default());
                quote!(#value)
            }
        });
        quote!(#path(#(#values),*))
    }

    /// Generates the call of the function, and the response.
    fn respond(&self, state: &TokenStream) -> TokenStream {
        let result = self.function_call(state);
        if self.responds() { result } else { quote!(__request.respond(#result)) }
    }

    fn call_tool(&self, state: &TokenStream) -> TokenStream {
        let body = self.respond(state);
        match self.values().next() {
            Some(_) => quote!(__request.with(|__request, __value_0| #body)),
            None => body,
        }
    }

    fn get_prompt(&self, state: &TokenStream) -> TokenStream {
        let (root, body) = (&self.root, self.respond(state));
        let Some((_, ty)) = self.values().next() else { return body };
        let ty = with_static_lifetimes(ty);
        quote!({
            const __FIELDS: &#root::schema::Fields = <#ty as #root::schema::Schema>::NODE.fields();
            const __SCALARS: &[(&::core::primitive::str, #root::server::routes::Scalar); __FIELDS.fields.len()] =
                &#root::server::routes::scalars(__FIELDS);
            let mut __space = #root::server::routes::Space::<#ARGUMENTS>::new();
            match #root::server::routes::arguments(&__request, __SCALARS, &mut __space) {
                ::core::result::Result::Ok(__value_0) => #body,
                ::core::result::Result::Err(__error) => __request.invalid(__error),
            }
        })
    }

    fn read_resource(&self, state: &TokenStream) -> TokenStream {
        let (root, uri, body) = (&self.root, &self.attributes.uri, self.respond(state));
        let values = self.values().enumerate().map(|(index, (name, ty))| {
            let (value, name) = (format_ident!("__value_{index}"), name.map(ToString::to_string));
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
        quote!({ #(#values)* #body })
    }

    fn complete(&self, state: &TokenStream) -> TokenStream {
        let (root, result) = (&self.root, self.function_call(state));
        let has_text = self.values().next().is_some();
        let body = match (self.responds(), has_text) {
            (true, _) => result,
            (false, true) => quote!(__request.values(#result)),
            (false, false) => quote!(__request.matching(#result)),
        };
        if !has_text {
            return body;
        }
        quote!({
            let mut __space = #root::server::routes::Space::<#TEXT>::new();
            match #root::server::routes::typed(&__request, &mut __space) {
                ::core::option::Option::Some(__value_0) => #body,
                ::core::option::Option::None => __request.values([""; 0]),
            }
        })
    }
}
