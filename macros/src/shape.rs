//! Entry point of the derive macros: dispatch on the type, and generated implementations.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Fields as Kind, GenericParam, Generics, Lifetime, LifetimeParam, Result,
    TypeParamBound, parse_quote,
};

use crate::attributes::{Direction, TypeAttributes, find_root};
use crate::fields::{Fields, Value, option, refuse};
use crate::one_of::{expand_enum, expand_names};
use crate::root::default_root;
use crate::scope::Scope;

/// The generated parts of the implementations.
#[derive(Default)]
pub(crate) struct Generated {
    /// The expression of the node, without the type's description.
    pub(crate) node: TokenStream,
    /// The body of `deserialize`.
    pub(crate) deserialize: TokenStream,
    /// The body of `from_members`.
    pub(crate) from_members: Option<TokenStream>,
    /// The body of `absent`, which returns the value of a missing field of this type. Without this body, such a field
    /// is required.
    pub(crate) absent: Option<TokenStream>,
    /// Whether the type can be the arguments of a tool.
    pub(crate) is_object: bool,
    /// Inherent functions of the type.
    pub(crate) inherent: Option<TokenStream>,
    /// The expression of the fields of a form.
    pub(crate) form: Option<TokenStream>,
}

pub(crate) fn expand(input: &DeriveInput, direction: Direction) -> TokenStream {
    let scope = Scope::new(input, direction);
    match generate(input, direction, &scope) {
        Ok((generated, attributes)) => expand_implementations(input, &attributes, &generated, &scope),
        Err(error) => {
            let (error, refused) = (error.into_compile_error(), expand_refused(input, direction));
            quote!(#error #refused)
        }
    }
}

/// Generates implementations for a type with an error, so that this error causes no further errors where the type is
/// used. The schema describes a string for an enum whose variants have no fields, and an object for any other type.
fn expand_refused(input: &DeriveInput, direction: Direction) -> TokenStream {
    let refuse = quote!(::core::result::Result::Err(__derived::no_variant()));
    let mut generated = expand_object(&Fields::none(true));
    generated.deserialize = refuse.clone();
    generated.from_members = Some(refuse);
    if let Data::Enum(data) = &input.data
        && data.variants.iter().all(|variant| variant.fields.is_empty())
    {
        generated.node = quote!(__schema::Node::Names(&__schema::Names { names: &[], descriptions: &[] }));
        generated.inherent = Some(expand_names(&quote!(""), &quote!("")));
    }
    let attributes = TypeAttributes { root: find_root(&input.attrs), ..TypeAttributes::default() };
    expand_implementations(input, &attributes, &generated, &Scope::new(input, direction))
}

fn generate(input: &DeriveInput, direction: Direction, scope: &Scope) -> Result<(Generated, TypeAttributes)> {
    let (generated, attributes) = match &input.data {
        Data::Union(data) => return refuse(data.union_token.span(), "a union has no tag for its content"),
        Data::Enum(data) => {
            let attributes = TypeAttributes::parse(&input.attrs, true, true, direction)?;
            (expand_enum(data, &attributes, scope)?, attributes)
        }
        Data::Struct(data) => {
            let has_name = !matches!(data.fields, Kind::Unnamed(_));
            let mut attributes = TypeAttributes::parse(&input.attrs, false, has_name, direction)?;
            let generated = match &data.fields {
                Kind::Named(fields) => expand_object(&Fields::new(
                    fields,
                    attributes.rename_all,
                    attributes.open,
                    attributes.default.take(),
                    scope,
                )?),
                Kind::Unit if direction == Direction::Encode => {
                    return refuse(input.ident.span(), "serde writes `null` for a unit struct: add `{}`");
                }
                Kind::Unit => expand_object(&Fields::none(attributes.open)),
                Kind::Unnamed(fields) => match fields.unnamed.first() {
                    Some(field) if fields.unnamed.len() == 1 => {
                        let value = Value::new(field, scope)?;
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
    if direction == Direction::Form && (generated.form.is_none() || scope.is_generic()) {
        return refuse(input.ident.span(), "a form is a struct with named fields, without type parameters");
    }
    Ok((generated, attributes))
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
        is_object: true,
        form: Some(fields.form()),
        ..Generated::default()
    }
}

/// Generates the parts for a newtype struct.
fn expand_newtype(value: &Value) -> Generated {
    let (node, ty) = (value.node(), value.ty());
    let absent = match value.has_schema() {
        true => value
            .is_option()
            .then(|| quote!(::core::option::Option::Some(Self(::core::option::Option::None)))),
        false => Some(quote!(<#ty as __schema::Schema>::absent().map(Self))),
    };
    Generated {
        node: quote!(*#node),
        deserialize: value.decode(
            &quote!(<#ty as __derived::serde::Deserialize<'__de>>::deserialize(__deserializer)),
            &quote!(::core::result::Result::Ok(Self(__value))),
            &quote!(__D::Error),
        ),
        absent,
        ..Generated::default()
    }
}

fn expand_implementations(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    generated: &Generated,
    scope: &Scope,
) -> TokenStream {
    let root = attributes.root.as_ref().map_or_else(default_root, |path| quote!(#path));
    let schema = expand_schema(input, attributes, generated, scope);
    let decoder = scope.direction().has_decoder().then(|| expand_decoder(input, generated));
    let usage = match scope.direction() {
        Direction::Decode if generated.is_object => Some(expand_arguments(input, attributes, &root, scope)),
        Direction::Form => Some(expand_form(input, generated)),
        Direction::Decode | Direction::Encode => None,
    };
    quote!(
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, deprecated, unused_imports, unused_mut)]
        const _: () = {
            use #root::schema as __schema;
            use #root::schema::derived as __derived;

            #schema
            #decoder
            #usage
        };
    )
}

/// Generates the implementation of `Schema`.
fn expand_schema(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    generated: &Generated,
    scope: &Scope,
) -> TokenStream {
    let name = &input.ident;
    let bounded = with_bounds(&input.generics, &[quote!(__schema::Schema)]);
    let (generics, arguments, conditions) = bounded.split_for_impl();
    let (node, text) = (expand_node(attributes, generated, scope), expand_text(scope));
    let recursive = scope.is_recursive().then(|| {
        let own_name = scope.name();
        quote!(
            struct __Recursive;

            impl __schema::Schema for __Recursive {
                const NODE: __schema::Node = __schema::Node::Reference(#own_name);
            }
        )
    });
    let absent = generated.absent.as_ref().map(|value| {
        quote!(
            fn absent() -> ::core::option::Option<Self> {
                #value
            }
        )
    });
    let inherent = generated.inherent.as_ref().map(|functions| {
        quote!(
            #[automatically_derived]
            impl #generics #name #arguments #conditions {
                #functions
            }
        )
    });
    quote!(
        #recursive

        #[automatically_derived]
        impl #generics __schema::Schema for #name #arguments #conditions {
            const NODE: __schema::Node = #node;
            #text
            #absent
        }

        #inherent
    )
}

/// Generates the implementations that decode a value.
fn expand_decoder(input: &DeriveInput, generated: &Generated) -> TokenStream {
    let name = &input.ident;
    let (_, arguments, conditions) = input.generics.split_for_impl();
    let generics = with_decoder_lifetime(&input.generics);
    let (generics, _, _) = generics.split_for_impl();
    let Generated { deserialize, from_members, .. } = generated;
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
    quote!(
        #[automatically_derived]
        impl #generics __derived::serde::Deserialize<'__de> for #name #arguments #conditions {
            fn deserialize<__D: __derived::serde::Deserializer<'__de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #deserialize
            }
        }

        #from_members
    )
}

/// Generates the implementation of `ToolArguments`.
fn expand_arguments(
    input: &DeriveInput,
    attributes: &TypeAttributes,
    root: &TokenStream,
    scope: &Scope,
) -> TokenStream {
    let (name, static_type) = (&input.ident, scope.static_type());
    let bounded = with_bounds(&input.generics, &[quote!(__schema::Schema)]);
    let (generics, arguments, conditions) = bounded.split_for_impl();
    let description = option(attributes.description.as_ref());
    let schema = match scope.is_generic() {
        true => quote!(__derived::input_schema(<Self as __schema::Schema>::JSON_SCHEMA)),
        // The compiler evaluates this inner constant, and reports its errors, even if nothing uses `INPUT_SCHEMA`.
        false => quote!({
            const __SCHEMA: &::core::primitive::str =
                __derived::input_schema(<#static_type as __schema::Schema>::JSON_SCHEMA);
            __SCHEMA
        }),
    };
    quote!(
        #[automatically_derived]
        impl #generics #root::ToolArguments for #name #arguments #conditions {
            const INPUT_SCHEMA: &'static ::core::primitive::str = #schema;
            const DESCRIPTION: ::core::option::Option<&'static ::core::primitive::str> = #description;
        }
    )
}

/// Generates the implementation of `FormContent`.
fn expand_form(input: &DeriveInput, generated: &Generated) -> TokenStream {
    let (name, form) = (&input.ident, &generated.form);
    let bounded = with_bounds(&input.generics, &[quote!(__schema::Schema)]);
    let (generics, arguments, conditions) = bounded.split_for_impl();
    quote!(
        #[automatically_derived]
        impl #generics __schema::FormContent for #name #arguments #conditions {
            const FIELDS: &'static [__derived::FormField<'static>] = #form;
        }
    )
}

/// Generates the node of the type, with its description.
fn expand_node(attributes: &TypeAttributes, generated: &Generated, scope: &Scope) -> TokenStream {
    let mut node = generated.node.clone();
    if scope.is_recursive() {
        let name = scope.name();
        node = quote!(__schema::Node::Recursive(&__derived::Definition {
            name: #name,
            module: ::core::module_path!(),
            node: &const { #node },
        }));
    }
    match &attributes.description {
        Some(description) => quote!(__schema::Node::Described(#description, &const { #node })),
        None => node,
    }
}

/// Generates the text of the schema. Returns `None` for a generic type, because the length of an array cannot depend on
/// type parameters. `JSON_SCHEMA` then keeps the default of the trait.
fn expand_text(scope: &Scope) -> Option<TokenStream> {
    (!scope.is_generic()).then(|| {
        let name = scope.static_type();
        quote!(
            const JSON_SCHEMA: &'static ::core::primitive::str = {
                const __NODE: __schema::Node = <#name as __schema::Schema>::NODE.undescribed();
                const __TEXT: [::core::primitive::u8; __derived::schema_length(&__NODE)] = __derived::schema(&__NODE);
                __derived::as_text(&__TEXT)
            };
        )
    })
}

/// Adds bounds to every type parameter, and removes the defaults of these parameters.
fn with_bounds(generics: &Generics, bounds: &[TokenStream]) -> Generics {
    let mut extended = generics.clone();
    for parameter in extended.type_params_mut() {
        parameter.default = None;
        parameter.bounds.extend(bounds.iter().map(|bound| -> TypeParamBound { parse_quote!(#bound) }));
    }
    extended
}

/// Adds the bounds that a decoder needs, and the lifetime `'__de` of its input, which outlives the other lifetimes.
fn with_decoder_lifetime(generics: &Generics) -> Generics {
    let deserialize = quote!(__derived::serde::Deserialize<'__de>);
    let mut extended = with_bounds(generics, &[quote!(__schema::Schema), deserialize]);
    let span = proc_macro2::Span::call_site();
    let mut decoder = LifetimeParam::new(Lifetime::new("'__de", span));
    decoder.bounds = generics.lifetimes().map(|parameter| parameter.lifetime.clone()).collect();
    extended.params.insert(0, GenericParam::Lifetime(decoder));
    extended
}
