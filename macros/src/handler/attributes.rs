//! The items of the attributes `#[tool(…)]`, `#[prompt(…)]`, `#[resource(…)]` and `#[complete(…)]` on a function.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, LitBool, LitStr, Path, Result, Token};

use crate::handler::kind::Kind;
use crate::handler::signature::take_until;
use crate::parse::{parse_string, set_once, unsupported_item};

/// The items of the attribute of a function.
#[derive(Default)]
pub(crate) struct HandlerAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) root: Option<Path>,
    /// Whether the item `blocking` is present, which moves the handler to a worker thread.
    pub(crate) is_blocking: bool,
    /// The URI or the URI template of a resource, or the URI template of a completion.
    pub(crate) uri: Option<LitStr>,
    pub(crate) mime: Option<LitStr>,
    /// The name of the completed prompt.
    pub(crate) prompt: Option<LitStr>,
    /// The completed argument or variable.
    pub(crate) argument: Option<LitStr>,
    /// The suggested values of arguments of a prompt.
    pub(crate) values: Vec<(Ident, TokenStream)>,
    /// The variant of `TaskSupport` of a tool.
    pub(crate) task_support: Option<Ident>,
    /// The size of a resource.
    pub(crate) size: Option<Expr>,
    /// Method calls that set properties of the tool, prompt or resource in the server's catalog.
    pub(crate) methods: TokenStream,
}

impl HandlerAttributes {
    pub(crate) fn parse(kind: Kind, tokens: TokenStream) -> Result<HandlerAttributes> {
        let parse = |input: ParseStream<'_>| match kind {
            Kind::Resource => HandlerAttributes::parse_resource(input),
            _ => HandlerAttributes::default().parse_items(kind, input),
        };
        parse.parse2(tokens)
    }

    /// Parses the URI, followed by items.
    fn parse_resource(input: ParseStream<'_>) -> Result<HandlerAttributes> {
        let uri = input.parse().map_err(|error| {
            syn::Error::new(error.span(), "expected the URI of the resource, such as \"device://config\"")
        })?;
        input.parse::<Option<Token![,]>>()?;
        HandlerAttributes { uri: Some(uri), ..HandlerAttributes::default() }
            .parse_items(Kind::Resource, input)
    }

    fn parse_items(mut self, kind: Kind, input: ParseStream<'_>) -> Result<HandlerAttributes> {
        let mut title = None;
        let parser = syn::meta::parser(|meta| {
            let item = meta.path.to_token_stream().to_string();
            let unsupported = || Err(meta.error(unsupported_item(kind.attribute(), &item, kind.items())));
            if !kind.items().contains(&&*item) {
                return unsupported();
            }
            match &*item {
                "crate" => {
                    let path = meta.value()?.call(Path::parse_mod_style)?;
                    set_once(&meta, &mut self.root, path)
                }
                "prompt" => set_once(&meta, &mut self.prompt, parse_string(&meta)?),
                "resource" => set_once(&meta, &mut self.uri, parse_string(&meta)?),
                "argument" => set_once(&meta, &mut self.argument, parse_string(&meta)?),
                "name" => set_once(&meta, &mut self.name, parse_string(&meta)?),
                "description" => set_once(&meta, &mut self.description, parse_string(&meta)?),
                "title" => set_once(&meta, &mut title, parse_string(&meta)?),
                "mime" => set_once(&meta, &mut self.mime, parse_string(&meta)?),
                "values" => meta.parse_nested_meta(|argument| {
                    let name = argument.path.require_ident()?.clone();
                    let input = argument.value()?;
                    let values;
                    syn::bracketed!(values in input);
                    self.values.push((name, values.parse()?));
                    Ok(())
                }),
                "size" => set_once(&meta, &mut self.size, meta.value()?.parse()?),
                // Each of these items has the name of a method that takes a constant. In the generated `const` block,
                // references are `'static`.
                "output_schema" | "icons" | "meta" | "annotations" | "streamed" => {
                    let (method, value) = (&meta.path, parse_constant(&meta)?);
                    self.methods.extend(quote!(.#method(const { #value })));
                    Ok(())
                }
                "task_support" => {
                    let support = parse_task_support(&meta)?;
                    set_once(&meta, &mut self.task_support, support)
                }
                "blocking" if self.is_blocking => unsupported(),
                "blocking" => {
                    self.is_blocking = true;
                    Ok(())
                }
                // Each of the other items has the name of a method of `Tool` that sets a hint.
                _ => {
                    let (hint, value) = (&meta.path, parse_flag(&meta)?);
                    self.methods.extend(quote!(.#hint(#value)));
                    Ok(())
                }
            }
        });
        parser.parse2(input.parse()?)?;
        if let Some(title) = title {
            self.methods.extend(quote!(.title(#title)));
        }
        Ok(self)
    }
}

/// Parses `= …`: an expression, or else the tokens up to the next comma. Features that other crates enable decide
/// whether `syn` parses array expressions.
fn parse_constant(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let input = meta.value()?;
    let ahead = input.fork();
    if let Ok(value) = ahead.parse::<Expr>()
        && (ahead.is_empty() || ahead.peek(Token![,]))
    {
        input.advance_to(&ahead);
        return Ok(value.into_token_stream());
    }
    let value = take_until(input, |input| input.peek(Token![,]))?;
    if value.is_empty() { Err(input.error("expected a constant")) } else { Ok(value) }
}

/// Parses `= optional` or `= required`. Returns the variant of `TaskSupport`.
fn parse_task_support(meta: &ParseNestedMeta<'_>) -> Result<Ident> {
    let support: Ident = meta.value()?.parse()?;
    let variant = match &*support.to_string() {
        "optional" => "Optional",
        "required" => "Required",
        _ => return Err(syn::Error::new(support.span(), "expected `optional` or `required`")),
    };
    Ok(Ident::new(variant, support.span()))
}

/// Parses `= true` or `= false`. Returns `true` if there is no value.
fn parse_flag(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    if !meta.input.peek(Token![=]) {
        return Ok(true);
    }
    meta.value()?.parse::<LitBool>().map(|value| value.value)
}
