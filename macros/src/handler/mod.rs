//! The attributes `tool`, `prompt`, `resource` and `complete` on functions and methods, and the macro `router!`.

mod attributes;
mod call;
mod deferred;
mod entry;
mod kind;
mod router;
mod signature;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, GenericParam, Ident, Result, Type};

use crate::handler::attributes::HandlerAttributes;
use crate::handler::deferred::is_request_part;
use crate::handler::signature::{Parameter, Signature};
use crate::parse::{with_named_lifetimes, with_static_lifetimes};
use crate::root::default_root;

pub(crate) use crate::handler::kind::Kind;
pub(crate) use crate::handler::router::expand_router;

/// The meaning of a parameter of a handler.
enum Role {
    /// The state: `&self`, `&mut self`, or a reference other than `&str`, `&mut str` and `&ServerHandle`. The type is
    /// `None` for a receiver.
    State { is_mutable: bool, ty: Option<Box<Type>> },
    /// The arguments, a variable of a template, or the text to complete. The name is `None` for a pattern.
    Value { name: Option<Ident>, ty: Box<Type> },
    /// The request: the handler itself responds.
    Request,
    /// A part of the deferred request, such as `Progress`.
    Part(Box<Type>),
    /// `ServerHandle` or `&ServerHandle`: the handle of the server. `argument` passes `__server` to the function.
    Server { ty: Box<Type>, argument: TokenStream },
}

/// The name of the type of [`Role::Server`].
const SERVER_HANDLE: &str = "ServerHandle";

impl Role {
    fn new(parameter: &Parameter, kind: Kind) -> Role {
        match parameter {
            Parameter::Receiver { is_mutable, .. } => Role::State { is_mutable: *is_mutable, ty: None },
            Parameter::Typed(name, ty) => match ungrouped(ty) {
                Type::Reference(reference)
                    if reference.mutability.is_none() && is_named(&reference.elem, SERVER_HANDLE) =>
                {
                    Role::Server { ty: reference.elem.clone(), argument: quote!(&__server) }
                }
                Type::Reference(reference) if !is_text_reference(ty) => Role::State {
                    is_mutable: reference.mutability.is_some(),
                    ty: Some(reference.elem.clone()),
                },
                other if is_named(other, kind.request()) => Role::Request,
                other if is_request_part(other) => Role::Part(ty.clone()),
                other if is_named(other, SERVER_HANDLE) => {
                    Role::Server { ty: ty.clone(), argument: quote!(__server) }
                }
                _ => Role::Value { name: name.clone(), ty: ty.clone() },
            },
        }
    }
}

/// Returns whether the last segment of the type's path has this name.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == name),
        _ => false,
    }
}

/// Returns the type without the invisible group around a parameter `$type:ty` of a `macro_rules!`.
fn ungrouped(ty: &Type) -> &Type {
    if let Type::Group(group) = ty { ungrouped(&group.elem) } else { ty }
}

/// Returns whether the type is `&str` or `&mut str`.
fn is_text_reference(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Reference(reference) if is_named(&reference.elem, "str"))
}

/// A function with an attribute, and the roles of its parameters.
struct Handler {
    kind: Kind,
    attributes: HandlerAttributes,
    signature: Signature,
    roles: Vec<Role>,
    root: TokenStream,
}

/// Returns the name of the generated function that returns the entry of the catalog.
fn entry_name(name: &Ident) -> Ident {
    format_ident!("__entry_from_attribute_of_{}", name)
}

/// Returns the name of the generated function that returns the handler. The compiler shows this name if the attribute
/// is missing.
fn handler_name(name: &Ident) -> Ident {
    format_ident!("__handler_from_attribute_of_{}", name)
}

/// Expands the attribute to the function itself and three generated functions. If the attribute or the function is
/// refused, a compile error and the functions of [`expand_refused`] replace the three functions.
pub(crate) fn expand(kind: Kind, attributes: TokenStream, item: TokenStream) -> TokenStream {
    let attributes = HandlerAttributes::parse(kind, attributes);
    let root = attributes.as_ref().ok().and_then(|attributes| attributes.root.as_ref());
    let root = root.map_or_else(default_root, |path| quote!(#path));
    let expanded = attributes.and_then(|attributes| expand_handler(kind, attributes, item.clone(), &root));
    let generated = expanded.unwrap_or_else(|error| {
        let (error, refused) = (error.into_compile_error(), expand_refused(&item, &root));
        quote!(#error #refused)
    });
    quote!(#item #generated)
}

/// Generates the functions that a router uses, so that the error of an attribute causes no error of the router. Returns
/// `None` if the item is no function.
fn expand_refused(item: &TokenStream, root: &TokenStream) -> Option<TokenStream> {
    let mut tokens = item.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))?;
    let Some(TokenTree::Ident(name)) = tokens.next() else { return None };
    let (entry, handler) = (entry_name(&name), handler_name(&name));
    Some(quote!(
        #[doc(hidden)]
        pub const fn #entry() -> #root::server::routes::Entry<'static> {
            #root::server::routes::Entry::Refused
        }

        #[doc(hidden)]
        pub const fn #handler<__C: ?::core::marker::Sized>() -> #root::server::routes::Handler<__C> {
            #root::server::routes::Handler::Refused
        }
    ))
}

fn expand_handler(
    kind: Kind,
    attributes: HandlerAttributes,
    item: TokenStream,
    root: &TokenStream,
) -> Result<TokenStream> {
    let signature: Signature = syn::parse2(item)?;
    let roles = signature.parameters.iter().map(|parameter| Role::new(parameter, kind)).collect();
    let handler = Handler { kind, attributes, signature, roles, root: root.clone() };
    handler.check()?;
    let (entry, call) = (handler.entry()?, handler.handler());
    Ok(quote!(#entry #call))
}

impl Handler {
    /// Refuses signatures that no router can call.
    fn check(&self) -> Result<()> {
        let Handler { kind, signature, roles, .. } = self;
        let is_lifetime = |parameter: &&GenericParam| matches!(parameter, GenericParam::Lifetime(_));
        if let Some(parameter) = signature.generics.params.iter().find(|it| !is_lifetime(it)) {
            let reason = match kind {
                Kind::Tool => "a tool has one schema: type and const parameters are not possible",
                _ => "a router calls one function: type and const parameters are not possible",
            };
            return Err(Error::new(parameter.span(), reason));
        }
        self.check_deferred()?;
        let (mut has_value, mut has_state, mut has_request, mut has_server) = (false, false, false, false);
        for (role, parameter) in roles.iter().zip(&signature.parameters) {
            let (found, reason) = match role {
                Role::Value { .. } => match kind.one_value() {
                    Some(reason) => (&mut has_value, reason.to_owned()),
                    None => continue,
                },
                Role::State { .. } => {
                    (&mut has_state, "a handler has one parameter for the state".to_owned())
                }
                Role::Request => (&mut has_request, format!("a handler has one `{}`", kind.request())),
                Role::Server { .. } => (&mut has_server, format!("a handler has one `{SERVER_HANDLE}`")),
                Role::Part(_) => continue,
            };
            if std::mem::replace(found, true) {
                return Err(Error::new(parameter.span(), reason));
            }
        }
        match &signature.output {
            Some(output) if self.responds() => Err(Error::new(
                output.span(),
                format!("this handler responds through its `{}`, so it returns nothing", kind.request()),
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether the handler itself responds.
    fn responds(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Request))
    }

    /// Returns the names and types of the parameters for values.
    fn values(&self) -> impl Iterator<Item = (Option<&Ident>, &Type)> {
        self.roles.iter().filter_map(|role| match role {
            Role::Value { name, ty } => Some((name.as_ref(), &**ty)),
            _ => None,
        })
    }

    /// Returns the generic parameters of the context, and the expression of the state. The expression is empty for a
    /// handler without state.
    fn context(&self) -> (TokenStream, TokenStream) {
        let state = self.roles.iter().find_map(|role| match role {
            Role::State { is_mutable, ty } => Some((*is_mutable, ty)),
            _ => None,
        });
        let Some((is_mutable, ty)) = state else { return (quote!(__C: ?::core::marker::Sized), quote!()) };
        let ty = ty.as_ref().map_or_else(|| quote!(Self), |ty| with_named_lifetimes(ty, "__state"));
        let (bound, lend) = match is_mutable {
            true => (quote!(LendMut), quote!(BorrowMut<#ty>>::borrow_mut)),
            false => (quote!(Lend), quote!(Borrow<#ty>>::borrow)),
        };
        let root = &self.root;
        let generics = quote!('__state, __C: #root::server::routes::#bound<#ty> + ?::core::marker::Sized);
        (generics, quote!(<__C as ::core::borrow::#lend(__context)))
    }

    /// Returns the bounds of a context with a server handle, and the code that clones the handle as `__server`. Both
    /// are empty for a handler without a parameter for the handle. `context` is a reference to the context.
    fn server_handle(&self, context: &TokenStream) -> (TokenStream, TokenStream) {
        let root = &self.root;
        let ty = self.roles.iter().find_map(|role| match role {
            Role::Server { ty, .. } => Some(with_static_lifetimes(ty)),
            _ => None,
        });
        let Some(ty) = ty else { return (quote!(), quote!()) };
        let bounds = quote!(__C: #root::server::HostContext<Server = #ty>,);
        let handle = quote!(#root::server::HostContext::server(#context));
        (bounds, quote!(let __server: #ty = ::core::clone::Clone::clone(#handle);))
    }
}

impl Parameter {
    fn span(&self) -> Span {
        match self {
            Parameter::Receiver { span, .. } => *span,
            Parameter::Typed(_, ty) => ty.span(),
        }
    }
}
