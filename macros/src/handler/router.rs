//! The macro `router!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Path, Result, Token};

use crate::handler::{call_name, tool_name};

/// Expands the paths of functions with the attribute `tool` to a router.
pub(crate) fn expand_router(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: TokenStream) -> Result<TokenStream> {
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(input)?;
    let tools = paths.iter().map(|path| renamed(path, tool_name));
    let calls = paths.iter().map(|path| renamed(path, call_name));
    Ok(quote!(::mcp_proto::server::Router::new(const { &[#(#tools()),*] }, const { &[#(#calls),*] })))
}

/// Replaces the name at the end of a path.
fn renamed(path: &Path, name: fn(&Ident) -> Ident) -> Path {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.ident = name(&last.ident);
    }
    path
}
