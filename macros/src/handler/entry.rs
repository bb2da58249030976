//! Generates a handler's entry for the server's catalog of tools, prompts, resources and completions.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, LitStr, Result};

use crate::handler::kind::Kind;
use crate::handler::{Handler, entry_name};
use crate::parse::{doc_text, with_static_lifetimes};
use crate::scope::mentions;

/// The schema of a tool without arguments. Some clients require the member `properties`.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

impl Handler {
    /// Generates the function that returns the entry.
    pub(crate) fn entry(&self) -> Result<TokenStream> {
        let (root, visibility, function) =
            (&self.root, &self.signature.visibility, entry_name(&self.signature.name));
        let entry = match self.kind {
            Kind::Tool => self.tool()?,
            Kind::Prompt => self.prompt()?,
            Kind::Resource => self.resource()?,
            Kind::Complete => self.completion()?,
        };
        Ok(quote!(
            #[doc(hidden)]
            #[allow(deprecated)]
            #visibility const fn #function() -> #root::server::routes::Entry<'static> {
                #entry
            }
        ))
    }

    /// Returns the name in the catalog.
    fn name(&self) -> String {
        match &self.attributes.name {
            Some(name) => name.value(),
            None => self.signature.name.unraw().to_string(),
        }
    }

    /// Generates the calls that set the description and the other properties of the entry.
    fn methods(&self) -> Result<TokenStream> {
        let description = match &self.attributes.description {
            Some(description) => Some(quote!(#description)),
            None => doc_text(&self.signature.attributes)?,
        };
        let (description, methods) =
            (description.map(|text| quote!(.description(#text))), &self.attributes.methods);
        Ok(quote!(#description #methods))
    }

    /// Returns the type of the result. Returns `None` for a function without a return type. Also returns `None` for a
    /// type that contains an `impl Trait`, because generated code cannot name this type.
    fn output(&self) -> Option<TokenStream> {
        let output = self.signature.output.clone();
        output.filter(|ty| !mentions(ty.clone(), &[format_ident!("impl")])).map(with_static_lifetimes)
    }

    fn tool(&self) -> Result<TokenStream> {
        let (root, name, methods) = (&self.root, self.name(), self.methods()?);
        let tool = match self.values().next() {
            Some((_, ty)) => {
                let ty = with_static_lifetimes(ty);
                quote!(#root::server::Tool::from_input::<#ty>(#name))
            }
            // The function itself may read the arguments.
            None if self.responds() => quote!(#root::server::Tool::new(#name, "{}")),
            None => quote!(#root::server::Tool::new(#name, #NO_ARGUMENTS)),
        };
        let output = self.output().map(|ty| quote!(.result_of::<#ty>()));
        let tasks = self
            .attributes
            .task_support
            .as_ref()
            .map(|support| quote!(.task_support(#root::TaskSupport::#support)));
        Ok(quote!(#root::server::routes::Entry::Tool(#tool #output #methods #tasks)))
    }

    fn prompt(&self) -> Result<TokenStream> {
        let (root, name, methods) = (&self.root, self.name(), self.methods()?);
        let values = self.attributes.values.iter().map(|(name, values)| {
            let name = name.unraw().to_string();
            quote!(let __arguments = #root::server::routes::with_values(__arguments, #name, &[#values]);)
        });
        let prompt = match self.values().next() {
            Some((_, ty)) => {
                let ty = with_static_lifetimes(ty);
                quote!({
                    const __FIELDS: &#root::schema::Fields = <#ty as #root::schema::Schema>::NODE.fields();
                    const __ARGUMENTS: &[#root::server::PromptArgument<'static>; __FIELDS.fields.len()] =
                        &{
                            let __arguments = #root::server::routes::prompt_arguments(__FIELDS);
                            #(#values)*
                            __arguments
                        };
                    let __prompt = #root::server::Prompt::new(#name).arguments(__ARGUMENTS);
                    match <#ty as #root::ToolArguments>::DESCRIPTION {
                        ::core::option::Option::Some(__text) => __prompt.description(__text),
                        ::core::option::Option::None => __prompt,
                    }
                })
            }
            None => match self.attributes.values.first() {
                Some((name, _)) => return Err(Error::new(name.span(), "the prompt has no arguments")),
                None => quote!(#root::server::Prompt::new(#name)),
            },
        };
        Ok(quote!(#root::server::routes::Entry::Prompt(#prompt #methods)))
    }

    fn resource(&self) -> Result<TokenStream> {
        let Some(uri) = &self.attributes.uri else { return Ok(TokenStream::new()) };
        let names = variables(uri)?;
        for (name, ty) in self.values() {
            let name = name.ok_or_else(|| {
                Error::new(
                    ty.span(),
                    "the name of this parameter must be the name of a variable of the template",
                )
            })?;
            let variable = name.unraw().to_string();
            if !names.contains(&variable) {
                return Err(no_variable(name.span(), &variable, &names));
            }
        }
        let (root, name, methods) = (&self.root, self.name(), self.methods()?);
        let mime = match (&self.attributes.mime, self.output()) {
            (Some(mime), _) => quote!(__entry.mime_type(#mime)),
            (None, Some(ty)) => quote!(match <#ty as #root::server::IntoResourceResult>::MIME_TYPE {
                ::core::option::Option::Some(__mime) => __entry.mime_type(__mime),
                ::core::option::Option::None => __entry,
            }),
            (None, None) => quote!(__entry),
        };
        let (kind, entry) = match names.is_empty() {
            true => (quote!(Resource), quote!(Resource)),
            false => (quote!(Template), quote!(ResourceTemplate)),
        };
        let size = match &self.attributes.size {
            Some(size) if !names.is_empty() => {
                return Err(Error::new(size.span(), "the resources of a template have no common size"));
            }
            size => size.as_ref().map(|size| quote!(.size(#size))),
        };
        Ok(quote!({
            let __entry = #root::server::#entry::new(#uri, #name)#methods #size;
            #root::server::routes::Entry::#kind(#mime)
        }))
    }

    fn completion(&self) -> Result<TokenStream> {
        let (root, attributes) = (&self.root, &self.attributes);
        let refuse = || {
            let reason = "expected `prompt = \"…\", argument = \"…\"`, or `resource = \"…\", argument = \"…\"` with a \
                          URI template and one of its variables";
            Error::new(self.signature.name.span(), reason)
        };
        let argument = attributes.argument.as_ref().ok_or_else(refuse)?;
        let reference = match (&attributes.prompt, &attributes.uri) {
            (Some(prompt), None) => quote!(Prompt(#prompt)),
            (None, Some(uri)) => {
                let names = variables(uri)?;
                if !names.contains(&argument.value()) {
                    return Err(no_variable(argument.span(), &argument.value(), &names));
                }
                quote!(Resource(#uri))
            }
            _ => return Err(refuse()),
        };
        Ok(quote!(#root::server::routes::Entry::Completion(#root::server::routes::Completed {
            reference: #root::server::routes::Reference::#reference,
            argument: #argument,
        })))
    }
}

/// Returns the error for a name that is no variable of the template. The error lists the variables.
fn no_variable(span: Span, name: &str, names: &[String]) -> Error {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let known = match names.is_empty() {
        true => "the URI has no variables, such as `{name}`".to_owned(),
        false => format!("its variables are {}", names.join(", ")),
    };
    Error::new(span, format!("the template has no variable `{name}`; {known}"))
}

/// Returns the names of the variables of a URI template. Fails if a brace has no counterpart.
fn variables(template: &LitStr) -> Result<Vec<String>> {
    let error = |reason| Error::new(template.span(), reason);
    let text = template.value();
    let mut names = Vec::new();
    for (index, part) in text.split('{').enumerate() {
        let literal = match part.split_once('}') {
            _ if index == 0 => part,
            Some((name, literal)) => {
                names.push(name.strip_prefix('+').unwrap_or(name).to_owned());
                literal
            }
            None => return Err(error("a `{` without `}`")),
        };
        if literal.contains('}') {
            return Err(error("a `}` without `{`"));
        }
    }
    Ok(names)
}
