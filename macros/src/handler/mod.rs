//! The attribute `tool` on functions and methods, and the macro `router!`.

mod attributes;
mod router;
mod signature;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Ident, Result, Type};

use crate::handler::attributes::HandlerAttributes;
use crate::handler::signature::{Parameter, Signature};
use crate::parse::{doc_text, with_named_lifetimes, with_static_lifetimes};

pub(crate) use crate::handler::router::expand_router;

/// The meaning of a parameter of a handler.
enum Role {
    /// `&self`, `&mut self` or a reference: the state. The type is `None` for a receiver.
    State { is_mutable: bool, ty: Option<Box<Type>> },
    /// The arguments of the call.
    Arguments(Box<Type>),
    /// The call: the handler itself responds.
    Call,
}

impl Role {
    fn new(parameter: &Parameter) -> Role {
        match parameter {
            Parameter::Receiver { is_mutable, .. } => Role::State { is_mutable: *is_mutable, ty: None },
            Parameter::Typed(ty) => match &**ty {
                Type::Reference(reference) => Role::State {
                    is_mutable: reference.mutability.is_some(),
                    ty: Some(reference.elem.clone()),
                },
                other if is_named(other, "Call") => Role::Call,
                _ => Role::Arguments(ty.clone()),
            },
        }
    }
}

/// Whether the last segment of the type's path has this name.
fn is_named(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == name),
        Type::Group(group) => is_named(&group.elem, name),
        _ => false,
    }
}

/// A function and what its parameters mean.
struct Handler {
    signature: Signature,
    roles: Vec<Role>,
    root: TokenStream,
}

/// The name of the generated function that returns the `Tool`.
fn tool_name(name: &Ident) -> Ident {
    format_ident!("__tool_{}", name)
}

/// The name of the generated function that handles a call.
fn call_name(name: &Ident) -> Ident {
    format_ident!("__call_{}", name)
}

/// Expands the attribute: the function itself, and two generated functions.
pub(crate) fn expand(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let generated = expand_handler(attributes, item.clone()).unwrap_or_else(Error::into_compile_error);
    quote!(#item #generated)
}

fn expand_handler(attributes: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let attributes = HandlerAttributes::parse(attributes)?;
    let signature: Signature = syn::parse2(item)?;
    let root = attributes.root.as_ref().map_or_else(|| quote!(::mcp_proto), |path| quote!(#path));
    let roles = signature.parameters.iter().map(Role::new).collect();
    let handler = Handler { signature, roles, root };
    handler.check()?;
    let (tool, call) = (handler.tool(&attributes)?, handler.call());
    Ok(quote!(#tool #call))
}

impl Handler {
    /// Refuses signatures that no router can call.
    fn check(&self) -> Result<()> {
        let Handler { signature, roles, .. } = self;
        if let Some(parameter) = signature.generics.type_params().next() {
            return Err(Error::new(
                parameter.span(),
                "a tool has one schema: type parameters are not possible",
            ));
        }
        if let Some(span) = signature.asynchronous {
            let reason = "a handler is not async: take the `Call`, and pass it to a task of an adapter";
            return Err(Error::new(span, reason));
        }
        let (mut has_arguments, mut has_state, mut has_call) = (false, false, false);
        for (role, parameter) in roles.iter().zip(&signature.parameters) {
            let (found, reason) = match role {
                Role::Arguments(_) => (
                    &mut has_arguments,
                    "a tool has one parameter for its arguments: put all of them into one struct",
                ),
                Role::State { .. } => (&mut has_state, "a handler has one parameter for the state"),
                Role::Call => (&mut has_call, "a handler has one `Call`"),
            };
            if std::mem::replace(found, true) {
                return Err(Error::new(parameter.span(), reason));
            }
        }
        match &signature.output {
            Some(output) if self.responds() => Err(Error::new(
                output.span(),
                "this handler responds through its `Call`, so it returns nothing",
            )),
            _ => Ok(()),
        }
    }

    /// Whether the handler itself responds.
    fn responds(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Call))
    }

    fn arguments(&self) -> Option<&Type> {
        self.roles.iter().find_map(|role| match role {
            Role::Arguments(ty) => Some(&**ty),
            _ => None,
        })
    }

    /// Generates the function that returns the `Tool`.
    fn tool(&self, attributes: &HandlerAttributes) -> Result<TokenStream> {
        let Handler { signature: Signature { name, visibility, output, .. }, root, .. } = self;
        let function = tool_name(name);
        let text = match &attributes.name {
            Some(name) => name.value(),
            None => name.to_string().trim_start_matches("r#").to_owned(),
        };
        let tool = match self.arguments().map(with_static_lifetimes) {
            Some(ty) => quote!(#root::server::Tool::with_arguments::<#ty>(#text)),
            None => quote!(#root::server::Tool::new(#text, "{}")),
        };
        let description = match &attributes.description {
            Some(description) => Some(quote!(#description)),
            None => doc_text(&self.signature.attributes)?,
        };
        let description = description.map(|text| quote!(.description(#text)));
        // An `impl Trait` has no name, so its output schema is unknown.
        let output = output.as_ref().filter(|ty| !matches!(ty, Type::ImplTrait(_))).map(|ty| {
            let ty = with_static_lifetimes(ty);
            quote!(.result_of::<#ty>())
        });
        let methods = &attributes.methods;
        Ok(quote!(
            #[doc(hidden)]
            #visibility const fn #function() -> #root::server::Tool<'static> {
                #tool #description #output #methods
            }
        ))
    }

    /// Generates the function that handles a call.
    fn call(&self) -> TokenStream {
        let Handler { signature: Signature { name, visibility, generics, parameters, .. }, roles, root } =
            self;
        let function = call_name(name);
        let lifetimes = generics.lifetimes();
        let (bound, state) = self.context();
        let path = match parameters.iter().any(|parameter| matches!(parameter, Parameter::Receiver { .. })) {
            true => quote!(Self::#name),
            false => quote!(#name),
        };
        let values = roles.iter().map(|role| match role {
            Role::State { .. } => state.clone(),
            Role::Arguments(_) => quote!(__arguments),
            Role::Call => quote!(__call),
        });
        let result = quote!(#path(#(#values),*));
        let body = if self.responds() { result } else { quote!(__call.respond(#result)) };
        let body = match self.arguments() {
            Some(_) => quote!(__call.with(|__call, __arguments| #body)),
            None => body,
        };
        quote!(
            #[doc(hidden)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, unused_variables)]
            #visibility fn #function<#(#lifetimes,)* #bound>(__context: &mut __C, __call: #root::server::Call<'_>) {
                #body
            }
        )
    }

    /// The generic parameters of the context, and the expression of the state.
    fn context(&self) -> (TokenStream, TokenStream) {
        let state = self.roles.iter().find_map(|role| match role {
            Role::State { is_mutable, ty } => Some((*is_mutable, ty)),
            _ => None,
        });
        let Some((is_mutable, ty)) = state else { return (quote!(__C: ?::core::marker::Sized), quote!()) };
        let ty = ty.as_ref().map_or_else(|| quote!(Self), |ty| with_named_lifetimes(ty, "__state"));
        let (bound, lend) = match is_mutable {
            true => (quote!(::core::borrow::BorrowMut<#ty>), quote!(borrow_mut)),
            false => (quote!(::core::borrow::Borrow<#ty>), quote!(borrow)),
        };
        (quote!('__state, __C: #bound + ?::core::marker::Sized), quote!(<__C as #bound>::#lend(__context)))
    }
}

impl Parameter {
    fn span(&self) -> Span {
        match self {
            Parameter::Receiver { span, .. } => *span,
            Parameter::Typed(ty) => ty.span(),
        }
    }
}
