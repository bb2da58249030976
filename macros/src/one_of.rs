//! Code generation for enums: string enumerations and tagged unions.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DataEnum, Error, Ident, LitStr, Result, Type, Variant};

use crate::attributes::{TypeAttributes, VariantAttributes};
use crate::fields::{Fields, Value, located_at, option, refuse};
use crate::parse::{json_string, with_static_lifetimes};
use crate::scope::Scope;
use crate::shape::Generated;

/// A variant in the schema.
struct Named<'v> {
    ident: &'v Ident,
    name: String,
    attributes: VariantAttributes,
    content: VariantContent,
}

/// The content of a variant.
enum VariantContent {
    Unit,
    Fields(Fields),
    /// A single unnamed field: a struct with named fields.
    Struct(Type),
}

pub(crate) fn expand_enum(data: &DataEnum, attributes: &TypeAttributes, scope: &Scope) -> Result<Generated> {
    let mut variants: Vec<Named<'_>> = Vec::new();
    for variant in &data.variants {
        let Some(named) = parse_variant(variant, attributes, scope)? else { continue };
        if variants.iter().any(|other| other.name == named.name) {
            let reason = format!("another variant also has the name `{}`", named.name);
            return Err(Error::new(variant.span(), reason));
        }
        variants.push(named);
    }
    if variants.is_empty() {
        return refuse(data.enum_token.span(), "an enum without variants accepts nothing");
    }
    match &attributes.tag {
        Some(tag) => Ok(expand_tagged_union(&variants, tag, attributes.open)),
        None => expand_strings(&variants, attributes),
    }
}

fn parse_variant<'v>(
    variant: &'v Variant,
    type_attributes: &TypeAttributes,
    scope: &Scope,
) -> Result<Option<Named<'v>>> {
    let attributes = VariantAttributes::parse(&variant.attrs, scope.direction())?;
    if attributes.skip {
        return Ok(None);
    }
    let rust_name = variant.ident.unraw().to_string();
    let name = attributes.name.clone().unwrap_or_else(|| {
        type_attributes.rename_all.map_or(rust_name.clone(), |case| case.convert_variant(&rust_name))
    });
    let content = match &variant.fields {
        syn::Fields::Unit => VariantContent::Unit,
        syn::Fields::Named(fields) => {
            let case = attributes.rename_all.or(type_attributes.rename_all_fields);
            VariantContent::Fields(Fields::new(fields, case, type_attributes.open, None, scope)?)
        }
        syn::Fields::Unnamed(fields) => match fields.unnamed.first() {
            Some(field) if fields.unnamed.len() == 1 => {
                let value = Value::new(field, scope)?;
                if value.is_member() || value.is_limited() {
                    return refuse(field.span(), "put these attributes on the fields of the inner struct");
                }
                VariantContent::Struct(value.ty().clone())
            }
            _ => {
                return refuse(variant.span(), "a model cannot fill in unnamed fields: name the fields");
            }
        },
    };
    Ok(Some(Named { ident: &variant.ident, name, attributes, content }))
}

fn expand_strings(variants: &[Named<'_>], attributes: &TypeAttributes) -> Result<Generated> {
    if let Some(variant) = variants.iter().find(|variant| !matches!(variant.content, VariantContent::Unit)) {
        let reason = "a variant with fields needs a tag: `#[serde(tag = \"…\")]` on the enum";
        return refuse(variant.ident.span(), reason);
    }
    if attributes.open {
        return refuse(variants[0].ident.span(), "a string enumeration has no fields");
    }
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let descriptions = variants.iter().map(|variant| match &variant.attributes.description {
        Some(description) => description.clone(),
        None => quote!(""),
    });
    let texts = |text: fn(&str) -> String| {
        let texts = variants.iter().map(|variant| {
            let (ident, text) = (variant.ident, text(&variant.name));
            quote!(Self::#ident => #text,)
        });
        quote!(match self { #(#texts)* _ => "" })
    };
    let (name, json) = (texts(str::to_owned), texts(json_string));
    let arms = variants.iter().enumerate().map(|(index, variant)| {
        let ident = variant.ident;
        quote!(::core::result::Result::Ok(#index) => ::core::result::Result::Ok(Self::#ident),)
    });
    Ok(Generated {
        node: quote!(__schema::Node::Names(&__schema::Names {
            names: &[#(#names),*],
            descriptions: &[#(#descriptions),*],
        })),
        deserialize: quote!(
            let __name = __derived::Name::<__derived::Variant>::new(&[#(#names),*]);
            match __derived::serde::de::DeserializeSeed::deserialize(__name, __deserializer) {
                #(#arms)*
                ::core::result::Result::Ok(_) => ::core::result::Result::Err(__derived::no_variant()),
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(__error),
            }
        ),
        inherent: Some(expand_names(&name, &json)),
        ..Generated::default()
    })
}

/// Generates the functions that return the name of a variant, as text and as JSON. The functions are inherent, because
/// functions of traits cannot be `const`.
pub(crate) fn expand_names(name: &TokenStream, json: &TokenStream) -> TokenStream {
    quote!(
        #[doc(hidden)]
        #[allow(dead_code, unreachable_patterns)]
        pub const fn __tool_name(&self) -> &'static ::core::primitive::str {
            #name
        }

        #[doc(hidden)]
        #[allow(dead_code, unreachable_patterns)]
        pub const fn __tool_json(&self) -> &'static ::core::primitive::str {
            #json
        }
    )
}

fn expand_tagged_union(variants: &[Named<'_>], tag: &LitStr, open: bool) -> Generated {
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let schemas = variants.iter().map(|variant| {
        let name = &variant.name;
        let description = match (&variant.attributes.description, &variant.content) {
            (None, VariantContent::Struct(ty)) => {
                let ty = with_static_lifetimes(ty);
                quote!(<#ty as __schema::Schema>::NODE.description())
            }
            (description, _) => option(description.as_ref()),
        };
        let fields = variant.content.schema(open);
        quote_spanned!(located_at(variant.ident)=> __schema::Variant {
            name: #name,
            description: #description,
            fields: const { #fields }.without(#tag),
        })
    });
    let arms = variants.iter().enumerate().map(|(index, variant)| {
        let read = variant.read(open);
        quote!(#index => #read,)
    });
    Generated {
        node: quote!(__schema::Node::OneOf(&__schema::OneOf { tag: #tag, variants: &[#(#schemas),*] })),
        deserialize: quote!(__derived::serde::Deserializer::deserialize_struct(
            __deserializer,
            __derived::ONE_OF,
            &[#tag, #(#names),*],
            __derived::Object(::core::marker::PhantomData::<Self>),
        )),
        from_members: Some(quote!(
            match __derived::variant(&mut __members, &[#tag], &[#(#names),*])? {
                #(#arms)*
                _ => ::core::result::Result::Err(__derived::no_variant()),
            }
        )),
        is_object: true,
        ..Generated::default()
    }
}

impl VariantContent {
    fn schema(&self, open: bool) -> TokenStream {
        let fields = match self {
            VariantContent::Unit => Fields::none(open).schema(),
            VariantContent::Fields(fields) => fields.schema(),
            VariantContent::Struct(ty) => {
                let ty = with_static_lifetimes(ty);
                return quote!(<#ty as __schema::Schema>::NODE.fields());
            }
        };
        quote!(&#fields)
    }
}

impl Named<'_> {
    /// Generates an expression that reads the variant from `__members`.
    fn read(&self, open: bool) -> TokenStream {
        let ident = self.ident;
        match &self.content {
            VariantContent::Unit => Fields::none(open).read(&quote!(Self::#ident)),
            VariantContent::Fields(fields) => fields.read(&quote!(Self::#ident)),
            VariantContent::Struct(ty) => quote!(
                <#ty as __derived::serde::Deserialize<'__de>>::deserialize(
                    __derived::serde::de::value::MapAccessDeserializer::new(__members)
                ).map(Self::#ident)
            ),
        }
    }
}
