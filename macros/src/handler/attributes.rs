//! The items of the attribute `#[tool(…)]` on a function.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{LitBool, LitStr, Path, Result, Token};

use crate::parse::{parse_string, set_once};

/// The methods of `Tool` that set a hint.
const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];

/// The items of `#[tool(…)]` on a function.
#[derive(Default)]
pub(crate) struct HandlerAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) root: Option<Path>,
    /// Method calls on the `Tool`.
    pub(crate) methods: TokenStream,
}

impl HandlerAttributes {
    pub(crate) fn parse(tokens: TokenStream) -> Result<HandlerAttributes> {
        let mut attributes = HandlerAttributes::default();
        let mut title = None;
        let parser = syn::meta::parser(|meta| {
            let item = meta.path.to_token_stream().to_string();
            match &*item {
                "name" => set_once(&meta, &mut attributes.name, parse_string(&meta)?),
                "description" => set_once(&meta, &mut attributes.description, parse_string(&meta)?),
                "title" => set_once(&meta, &mut title, parse_string(&meta)?),
                "crate" => {
                    let path = meta.value()?.call(Path::parse_mod_style)?;
                    set_once(&meta, &mut attributes.root, path)
                }
                hint if HINTS.contains(&hint) => {
                    let (hint, value) = (&meta.path, parse_flag(&meta)?);
                    attributes.methods.extend(quote!(.#hint(#value)));
                    Ok(())
                }
                _ => Err(meta.error(format!("`#[tool({item})]` is not supported here"))),
            }
        });
        parser.parse2(tokens)?;
        if let Some(title) = title {
            attributes.methods.extend(quote!(.title(#title)));
        }
        Ok(attributes)
    }
}

/// Parses nothing or `= false`.
fn parse_flag(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    if !meta.input.peek(Token![=]) {
        return Ok(true);
    }
    meta.value()?.parse::<LitBool>().map(|value| value.value)
}
