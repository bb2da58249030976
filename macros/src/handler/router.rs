//! The macro `router!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Path, Result, Token};

use crate::handler::{entry_name, handler_name};
use crate::root::default_root;

/// Expands the macro: the paths of annotated functions become a router.
pub(crate) fn expand_router(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: TokenStream) -> Result<TokenStream> {
    let (root, paths) = parse.parse2(input)?;
    let entries = paths.iter().map(|path| renamed(path, entry_name));
    let handlers = paths.iter().map(|path| renamed(path, handler_name));
    let root = root.map_or_else(default_root, |path| quote!(#path));
    // No generated constant names the type of the context, so the compiler infers this type from the type of the
    // router.
    Ok(quote!({
        use #root::server::{Prompts as __Prompts, Resources as __Resources, Tools as __Tools, routes as __routes};

        const __ENTRIES: &[__routes::Entry<'static>] = &[#(#entries()),*];
        const __COUNTS: __routes::Counts = __routes::Counts::new(__ENTRIES);
        const __TOOLS: &__Tools<'static> =
            &__Tools::new(const { &__routes::tools::<{ __COUNTS.tools }>(__ENTRIES) });
        const __PROMPTS: &__Prompts<'static> =
            &__Prompts::new(const { &__routes::prompts::<{ __COUNTS.prompts }>(__ENTRIES) });
        const __RESOURCES: &__Resources<'static> =
            &__Resources::new(const { &__routes::resources::<{ __COUNTS.resources }>(__ENTRIES) })
                .templates(const { &__routes::templates::<{ __COUNTS.templates }>(__ENTRIES) });
        const _: () = __routes::check(__ENTRIES);

        #root::server::Router::new(const {
            let __handlers = &[#(#handlers()),*];
            &__routes::Tables {
                features: __routes::Features(const {
                    &__routes::features::<{ __COUNTS.features() }>(__COUNTS, __TOOLS, __PROMPTS, __RESOURCES)
                }),
                tools: __TOOLS,
                tool_handlers: &__routes::tool_handlers::<_, { __COUNTS.tools }>(__handlers),
                prompts: __PROMPTS,
                prompt_handlers: &__routes::prompt_handlers::<_, { __COUNTS.prompts }>(__handlers),
                resources: __RESOURCES,
                resource_handlers: &__routes::resource_handlers::<_, { __COUNTS.resources }>(__handlers),
                template_handlers: &__routes::template_handlers::<_, { __COUNTS.templates }>(__handlers),
                completed: const { &__routes::completed::<{ __COUNTS.completions }>(__ENTRIES) },
                completion_handlers: &__routes::completion_handlers::<_, { __COUNTS.completions }>(__handlers),
            }
        })
    }))
}

/// Parses the optional first item `crate = path`, and then the paths of the functions.
fn parse(input: ParseStream<'_>) -> Result<(Option<Path>, Punctuated<Path, Token![,]>)> {
    let mut root = None;
    if input.peek(Token![crate]) && input.peek2(Token![=]) {
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        root = Some(input.call(Path::parse_mod_style)?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    let paths = Punctuated::<Path, Token![,]>::parse_terminated_with(input, |input| {
        let path = input.parse::<Path>().map_err(|error| {
            Error::new(
                error.span(),
                "expected the path of a function, such as `motor::start` or `Counter::increment`",
            )
        })?;
        match input.peek(Token![=]) {
            true => Err(input.error("only `crate = path` is possible here, as the first item")),
            false => Ok(path),
        }
    })?;
    Ok((root, paths))
}

/// Replaces the name at the end of a path.
fn renamed(path: &Path, name: fn(&Ident) -> Ident) -> Path {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.ident = name(&last.ident);
    }
    path
}
