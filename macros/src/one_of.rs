//! Code generation for enums: string enumerations and tagged unions.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DataEnum, Error, Ident, LitStr, Result, Type, Variant};

use crate::attributes::{OfType, OfVariant};
use crate::fields::{Fields, Value, located_at, optional, refuse};
use crate::parse::with_static_lifetimes;
use crate::shape::Made;

/// A variant in the schema.
struct Named<'v> {
    ident: &'v Ident,
    name: String,
    said: OfVariant,
    holds: Holds,
}

/// The content of a variant.
enum Holds {
    Nothing,
    Fields(Fields),
    /// A single unnamed field, which is a struct.
    Struct(Type),
}

pub(crate) fn of_enum(data: &DataEnum, said: &OfType) -> Result<Made> {
    let mut variants: Vec<Named<'_>> = Vec::new();
    for variant in &data.variants {
        let Some(named) = named(variant, said)? else { continue };
        if variants.iter().any(|other| other.name == named.name) {
            let why = format!("another variant has the name `{}`, too", named.name);
            return Err(Error::new(variant.span(), why));
        }
        variants.push(named);
    }
    if variants.is_empty() {
        return refuse(data.enum_token.span(), "an enum without variants accepts nothing");
    }
    match &said.tag {
        Some(tag) => Ok(objects(&variants, tag, said.open)),
        None => strings(&variants, said),
    }
}

fn named<'v>(variant: &'v Variant, of_type: &OfType) -> Result<Option<Named<'v>>> {
    let said = OfVariant::parse(&variant.attrs)?;
    if said.skip {
        return Ok(None);
    }
    let plain = variant.ident.unraw().to_string();
    let name = said
        .name
        .clone()
        .unwrap_or_else(|| of_type.rename_all.map_or(plain.clone(), |case| case.of_variant(&plain)));
    let holds = match &variant.fields {
        syn::Fields::Unit => Holds::Nothing,
        syn::Fields::Named(fields) => {
            let case = said.rename_all.or(of_type.rename_all_fields);
            Holds::Fields(Fields::new(fields, case, of_type.open, None)?)
        }
        syn::Fields::Unnamed(fields) => match fields.unnamed.first() {
            Some(field) if fields.unnamed.len() == 1 => {
                let value = Value::new(field)?;
                if value.is_member() || value.is_limited() {
                    return refuse(field.span(), "it is a struct, whose own fields have such attributes");
                }
                Holds::Struct(value.ty().clone())
            }
            _ => {
                return refuse(
                    variant.span(),
                    "a model cannot fill in what has no name: give the fields names",
                );
            }
        },
    };
    Ok(Some(Named { ident: &variant.ident, name, said, holds }))
}

fn strings(variants: &[Named<'_>], said: &OfType) -> Result<Made> {
    if let Some(variant) = variants.iter().find(|variant| !matches!(variant.holds, Holds::Nothing)) {
        let why = "a variant that holds something needs a tag to tell it apart: `#[serde(tag = \"…\")]` on the enum";
        return refuse(variant.ident.span(), why);
    }
    if said.open {
        return refuse(variants[0].ident.span(), "a string has no fields, known or unknown");
    }
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let descriptions = variants.iter().map(|variant| match &variant.said.description {
        Some(description) => description.clone(),
        None => quote!(""),
    });
    let arms = variants.iter().enumerate().map(|(index, variant)| {
        let ident = variant.ident;
        quote!(::core::result::Result::Ok(#index) => ::core::result::Result::Ok(Self::#ident),)
    });
    Ok(Made {
        node: quote!(__schema::Node::Names(&__schema::Names {
            names: &[#(#names),*],
            descriptions: &[#(#descriptions),*],
        })),
        deserialize: quote!(
            let __name = __derived::Name { names: &[#(#names),*], unknown: __derived::Unknown::Variant };
            match __derived::serde::de::DeserializeSeed::deserialize(__name, __deserializer) {
                #(#arms)*
                ::core::result::Result::Ok(_) => ::core::result::Result::Err(__derived::no_variant()),
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(__error),
            }
        ),
        from_members: None,
        absent: None,
        is_object: false,
    })
}

fn objects(variants: &[Named<'_>], tag: &LitStr, open: bool) -> Made {
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let schemas = variants.iter().map(|variant| {
        let name = &variant.name;
        let description = match (&variant.said.description, &variant.holds) {
            (None, Holds::Struct(ty)) => {
                let ty = with_static_lifetimes(ty);
                quote!(<#ty as __schema::Schema>::NODE.description())
            }
            (said, _) => optional(said.as_ref()),
        };
        let fields = variant.holds.schema(open);
        quote_spanned!(located_at(variant.ident)=> __schema::Variant {
            name: #name,
            description: #description,
            fields: { const __FIELDS: &__schema::Fields = #fields; __FIELDS.without(#tag) },
        })
    });
    let arms = variants.iter().enumerate().map(|(index, variant)| {
        let read = variant.read(open);
        quote!(#index => #read,)
    });
    Made {
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
        absent: None,
        is_object: true,
    }
}

impl Holds {
    fn schema(&self, open: bool) -> TokenStream {
        let fields = match self {
            Holds::Nothing => Fields::none(open).schema(),
            Holds::Fields(fields) => fields.schema(),
            Holds::Struct(ty) => {
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
        match &self.holds {
            Holds::Nothing => Fields::none(open).read(&quote!(Self::#ident)),
            Holds::Fields(fields) => fields.read(&quote!(Self::#ident)),
            Holds::Struct(ty) => quote!(
                <#ty as __derived::serde::Deserialize<'__de>>::deserialize(
                    __derived::serde::de::value::MapAccessDeserializer::new(__members)
                ).map(Self::#ident)
            ),
        }
    }
}
