//! Entry point of the derive macro: dispatch on the type, and generated implementations.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields as Kind, GenericParam, Generics, Lifetime, LifetimeParam, Result};

use crate::attributes::TypeAttributes;
use crate::fields::{Fields, Value, optional, refuse};
use crate::one_of::expand_enum;
use crate::parse::with_static_lifetimes;
use crate::root::default_root;

/// The generated parts of the implementations.
pub(crate) struct Generated {
    /// The expression of the node, without the type's description.
    pub(crate) node: TokenStream,
    /// The body of `deserialize`.
    pub(crate) deserialize: TokenStream,
    /// The body of `from_members`.
    pub(crate) from_members: Option<TokenStream>,
    /// The value of a missing field of this type.
    pub(crate) absent: Option<TokenStream>,
    /// Whether the type can be the arguments of a tool.
    pub(crate) is_object: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    check_generics(&input.generics)?;
    let (generated, attributes) = match &input.data {
        Data::Union(data) => return refuse(data.union_token.span(), "a union has no tag for its content"),
        Data::Enum(data) => {
            let attributes = TypeAttributes::parse(&input.attrs, true, true)?;
            (expand_enum(data, &attributes)?, attributes)
        }
        Data::Struct(data) => {
            let has_name = !matches!(data.fields, Kind::Unnamed(_));
            let mut attributes = TypeAttributes::parse(&input.attrs, false, has_name)?;
            let generated = match &data.fields {
                Kind::Named(fields) => expand_object(&Fields::new(
                    fields,
                    attributes.rename_all,
                    attributes.open,
                    attributes.default.take(),
                )?),
                Kind::Unit => expand_object(&Fields::none(attributes.open)),
                Kind::Unnamed(fields) => match fields.unnamed.first() {
                    Some(field) if fields.unnamed.len() == 1 => {
                        let value = Value::new(field)?;
                        if value.is_member()
                            || value.description().is_some()
                            || attributes.open
                            || attributes.rename_all.is_some()
                        {
                            return refuse(
                                field.span(),
                                "this newtype field has no name: put the attribute on the named field that contains the type",
                            );
                        }
                        expand_newtype(&value)
                    }
                    _ => {
                        return refuse(
                            fields.span(),
                            "a model cannot fill in unnamed fields: name the fields",
                        );
                    }
                },
            };
            (generated, attributes)
        }
    };
    Ok(expand_implementations(input, &attributes, &generated))
}

/// Refuses type and const parameters. A schema is a constant and cannot depend on such parameters.
fn check_generics(generics: &Generics) -> Result<()> {
    match generics.params.iter().find(|parameter| !matches!(parameter, GenericParam::Lifetime(_))) {
        Some(parameter) => refuse(
            parameter.span(),
            "a schema cannot depend on type or const parameters: only lifetimes are allowed",
        ),
        None => Ok(()),
    }
}

fn expand_object(fields: &Fields) -> Generated {
    let (schema, names) = (fields.schema(), fields.names());
    Generated {
        node: quote!(__schema::Node::Object(&#schema)),
        deserialize: quote!(__derived::serde::Deserializer::deserialize_struct(
            __deserializer,
            __derived::STRUCT,
            #names,
            __derived::Object(::core::marker::PhantomData::<Self>),
        )),
        from_members: Some(fields.read(&quote!(Self))),
        absent: None,
        is_object: true,
    }
}

/// Generates the parts for a newtype struct.
fn expand_newtype(value: &Value) -> Generated {
    let (node, seed, ty) = (value.node(), value.seed(), value.ty());
    let absent = (!value.has_schema()).then(|| quote!(<#ty as __schema::Schema>::absent().map(Self)));
    Generated {
        node: quote!(*#node),
        deserialize: quote!(
            __derived::serde::de::DeserializeSeed::deserialize(#seed, __deserializer).map(Self)
        ),
        from_members: None,
        absent,
        is_object: false,
    }
}

fn expand_implementations(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    generated: &Generated,
) -> TokenStream {
    let name = &input.ident;
    let root = attributes.root.as_ref().map_or_else(default_root, |path| quote!(#path));
    let (plain_generics, arguments, conditions) = input.generics.split_for_impl();
    let generics = with_decoder_lifetime(&input.generics);
    let (generics, _, _) = generics.split_for_impl();
    let static_arguments = with_static_lifetimes(&arguments);
    let Generated { node, deserialize, from_members, absent, is_object } = generated;

    let described = match &attributes.description {
        Some(description) => quote!({
            const __NODE: __schema::Node = #node;
            __schema::Node::Described(#description, &__NODE)
        }),
        None => quote!(#node),
    };
    let absent = absent.as_ref().map(|value| {
        quote!(
            fn absent() -> ::core::option::Option<Self> {
                #value
            }
        )
    });
    let from_members = from_members.as_ref().map(|body| {
        quote!(
            #[automatically_derived]
            impl #generics __derived::FromMembers<'__de> for #name #arguments #conditions {
                fn from_members<__A: __derived::serde::de::MapAccess<'__de>>(
                    mut __members: __A,
                ) -> ::core::result::Result<Self, __A::Error> {
                    #body
                }
            }
        )
    });
    let description = optional(attributes.description.as_ref());
    let tool_arguments = is_object.then(|| {
        quote!(
            #[automatically_derived]
            impl #plain_generics #root::ToolArguments for #name #arguments #conditions {
                const INPUT_SCHEMA: &'static str = {
                    const __NODE: __schema::Node = <#name #static_arguments as __schema::Schema>::NODE.inner();
                    const __TEXT: [u8; __derived::schema_length(&__NODE)] = __derived::schema(&__NODE);
                    const __SCHEMA: &::core::primitive::str = __derived::input_schema(&__TEXT);
                    __SCHEMA
                };
                const DESCRIPTION: ::core::option::Option<&'static str> = #description;
            }
        )
    });
    quote!(
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, unused_mut)]
        const _: () = {
            use #root::schema as __schema;
            use #root::schema::derived as __derived;

            #[automatically_derived]
            impl #plain_generics __schema::Schema for #name #arguments #conditions {
                const NODE: __schema::Node = #described;
                #absent
            }

            #[automatically_derived]
            impl #generics __derived::serde::Deserialize<'__de> for #name #arguments #conditions {
                fn deserialize<__D: __derived::serde::Deserializer<'__de>>(
                    __deserializer: __D,
                ) -> ::core::result::Result<Self, __D::Error> {
                    #deserialize
                }
            }

            #from_members
            #tool_arguments
        };
    )
}

/// Adds the decoder's lifetime, which outlives the other lifetimes.
fn with_decoder_lifetime(generics: &Generics) -> Generics {
    let mut extended = generics.clone();
    let span = proc_macro2::Span::call_site();
    let mut decoder = LifetimeParam::new(Lifetime::new("'__de", span));
    decoder.bounds = generics.lifetimes().map(|parameter| parameter.lifetime.clone()).collect();
    extended.params.insert(0, GenericParam::Lifetime(decoder));
    extended
}
