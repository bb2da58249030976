//! Code generation for named fields: schema and decoding.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Expr, Field, FieldsNamed, Ident, Result, Type};

use crate::attributes::{Absent, OfField};
use crate::names::Case;
use crate::parse::{Literal, with_static_lifetimes};

/// The named fields of a struct or a variant.
pub(crate) struct Fields {
    present: Vec<Named>,
    skipped: Vec<Skipped>,
    /// The default of the whole struct, for missing fields.
    absent: Option<Absent>,
    open: bool,
}

/// A field with a member in the object.
struct Named {
    ident: Ident,
    name: String,
    value: Value,
}

/// A field without a member.
struct Skipped {
    ident: Ident,
    absent: Option<Absent>,
}

/// The type of a field with its attributes.
pub(crate) struct Value {
    ty: Type,
    said: OfField,
}

impl Value {
    pub(crate) fn new(field: &Field) -> Result<Value> {
        Ok(Value { ty: field.ty.clone(), said: OfField::parse(&field.attrs)? })
    }

    /// Whether it has attributes that only a named field may have.
    pub(crate) fn is_member(&self) -> bool {
        self.said.name.is_some() || self.said.skip || self.said.default.is_some()
    }

    /// Whether attributes limit or describe its type.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit().is_some() || self.has_schema() || self.said.description.is_some()
    }

    pub(crate) fn description(&self) -> Option<&TokenStream> {
        self.said.description.as_ref()
    }

    pub(crate) fn has_schema(&self) -> bool {
        self.said.schema.is_some()
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    /// Generates an expression of type `&'static Node`.
    pub(crate) fn node(&self) -> TokenStream {
        let (plain, span) = (self.plain(), located_at(&self.ty));
        let Some(limit) = self.limit() else {
            return quote_spanned!(span=> { const __NODE: __schema::Node = #plain; &__NODE });
        };
        let default = self.said.shown_default().and_then(|literal| match literal {
            Literal::Integer(text) => {
                let value: syn::LitInt = syn::parse_str(text.trim_start_matches('-')).ok()?;
                let sign = text.starts_with('-').then(|| quote!(-));
                Some(quote_spanned!(span=> .with_default(#sign #value as i128)))
            }
            Literal::String(text) => {
                let length = text.chars().count();
                Some(quote_spanned!(span=> .with_default_of_length(#length)))
            }
            _ => None,
        });
        quote_spanned!(span=> {
            const __PLAIN: __schema::Node = #plain;
            const __INNER: __schema::Node = __PLAIN.inner()#limit #default;
            const __NODE: __schema::Node = if __PLAIN.is_optional() { __schema::Node::Optional(&__INNER) } else { __INNER };
            &__NODE
        })
    }

    /// Generates the node of the type, without the limits of attributes.
    fn plain(&self) -> TokenStream {
        match &self.said.schema {
            Some(schema) => quote!({ #schema }),
            None => {
                let ty = with_static_lifetimes(&self.ty);
                quote!(<#ty as __schema::Schema>::NODE)
            }
        }
    }

    /// Generates the method call that applies the limits to the node.
    fn limit(&self) -> Option<TokenStream> {
        let (said, span) = (&self.said, located_at(&self.ty));
        if said.is_ranged() {
            let (minimum, maximum) = (bound(said.minimum.as_ref()), bound(said.maximum.as_ref()));
            Some(quote_spanned!(span=> .with_range(#minimum, #maximum)))
        } else if said.is_measured() {
            let (shortest, longest) = lengths(&said.shortest, &said.longest);
            Some(quote_spanned!(span=> .with_length(#shortest, #longest)))
        } else if said.is_counted() {
            let (fewest, most) = lengths(&said.fewest, &said.most);
            Some(quote_spanned!(span=> .with_length(#fewest, #most)))
        } else {
            None
        }
    }

    /// Generates the expression of the seed that decodes the field.
    pub(crate) fn seed(&self) -> TokenStream {
        let (ty, said, span) = (&self.ty, &self.said, located_at(&self.ty));
        let check = if said.is_ranged() {
            let (minimum, maximum) = (option(said.minimum.as_ref()), option(said.maximum.as_ref()));
            quote_spanned!(span=> __derived::Number::lies_within(__value, #minimum, #maximum))
        } else if said.is_measured() {
            let (shortest, longest) = lengths(&said.shortest, &said.longest);
            quote_spanned!(span=> __derived::Characters::has_length(__value, #shortest, #longest))
        } else if said.is_counted() {
            let (fewest, most) = lengths(&said.fewest, &said.most);
            quote_spanned!(span=> __derived::List::has_elements(__value, #fewest, #most))
        } else {
            return quote!(__derived::Plain::<#ty>);
        };
        let (plain, limit) = (self.plain(), self.limit());
        quote_spanned!(span=> {
            const __NODE: __schema::Node = #plain.inner()#limit;
            const __TEXT: [u8; __derived::requirement_length(&__NODE)] = __derived::requirement(&__NODE);
            const __REQUIREMENT: &str = __derived::as_text(&__TEXT);
            __derived::Checked::new(|__value: &#ty| #check, __REQUIREMENT)
        })
    }
}

impl Fields {
    pub(crate) fn new(
        fields: &FieldsNamed,
        case: Option<Case>,
        open: bool,
        absent: Option<Absent>,
    ) -> Result<Fields> {
        let mut all = Fields { present: Vec::new(), skipped: Vec::new(), absent, open };
        for field in &fields.named {
            let Some(ident) = field.ident.clone() else { continue };
            let value = Value::new(field)?;
            if value.said.skip {
                all.skipped.push(Skipped { ident, absent: value.said.default });
                continue;
            }
            let plain = ident.unraw().to_string();
            let name = value
                .said
                .name
                .clone()
                .unwrap_or_else(|| case.map_or(plain.clone(), |case| case.of_field(&plain)));
            if all.present.iter().any(|other| other.name == name) {
                return Err(Error::new(ident.span(), format!("another field has the name `{name}`, too")));
            }
            all.present.push(Named { ident, name, value });
        }
        Ok(all)
    }

    /// Creates an empty list of fields.
    pub(crate) fn none(open: bool) -> Fields {
        Fields { present: Vec::new(), skipped: Vec::new(), absent: None, open }
    }

    /// Generates the `Fields` value of the schema.
    pub(crate) fn schema(&self) -> TokenStream {
        let open = self.open;
        let fields = self.present.iter().map(|Named { name, value, .. }| {
            let description = optional(value.said.description.as_ref());
            let node = value.node();
            let has_default = value.said.default.is_some() || self.absent.is_some();
            let default = match &value.said.default {
                Some(Absent::Shown { json, .. }) => quote!(::core::option::Option::Some(#json)),
                _ => quote!(::core::option::Option::None),
            };
            quote!(__schema::Field {
                name: #name,
                description: #description,
                node: #node,
                has_default: #has_default,
                default: #default,
            })
        });
        quote!(__schema::Fields { fields: &[#(#fields),*], open: #open })
    }

    /// Generates the array of the names.
    pub(crate) fn names(&self) -> TokenStream {
        let names = self.present.iter().map(|field| &field.name);
        quote!(&[#(#names),*])
    }

    /// Generates code that reads the fields from `__members`, and returns a `Result` with `whole` and its fields.
    pub(crate) fn read(&self, whole: &TokenStream) -> TokenStream {
        let names = self.names();
        let unknown = if self.open { quote!(Ignored) } else { quote!(Member) };
        let places: Vec<_> = (0..self.present.len()).map(|index| format_ident!("__field_{index}")).collect();
        let types = self.present.iter().map(|field| &field.value.ty);
        let arms = self.present.iter().zip(&places).enumerate().map(|(index, (field, place))| {
            let (name, seed) = (&field.name, field.value.seed());
            quote!(#index => __derived::take(&mut #place, &mut __members, #name, #seed),)
        });
        let end = match &self.absent {
            Some(absent) => self.replace(absent, &places),
            None => {
                let values = self.present.iter().zip(&places).map(|(field, place)| {
                    let (ident, value) = (&field.ident, field.value_or_absent(place));
                    quote!(#ident: #value,)
                });
                let skipped = self.skipped.iter().map(|Skipped { ident, absent }| {
                    let value = absent_value(absent.as_ref().unwrap_or(&Absent::Trait));
                    quote!(#ident: #value,)
                });
                quote!(::core::result::Result::Ok(#whole { #(#values)* #(#skipped)* }))
            }
        };
        quote!({
            #(let mut #places: ::core::option::Option<#types> = ::core::option::Option::None;)*
            let __name = __derived::Name { names: #names, unknown: __derived::Unknown::#unknown };
            // No `?`, because each would reserve stack space for a large error.
            loop {
                let __index = match __derived::serde::de::MapAccess::next_key_seed(&mut __members, __name) {
                    ::core::result::Result::Ok(::core::option::Option::Some(__index)) => __index,
                    ::core::result::Result::Ok(::core::option::Option::None) => break,
                    ::core::result::Result::Err(__error) => return ::core::result::Result::Err(__error),
                };
                let __taken = match __index {
                    #(#arms)*
                    _ => __derived::skip(&mut __members),
                };
                if let ::core::result::Result::Err(__error) = __taken {
                    return ::core::result::Result::Err(__error);
                }
            }
            #end
        })
    }

    /// Generates code that overwrites the default struct with the fields that were present.
    fn replace(&self, absent: &Absent, places: &[Ident]) -> TokenStream {
        let value = absent_value(absent);
        let changes = self.present.iter().zip(places).map(|(field, place)| {
            let ident = &field.ident;
            let otherwise = field.value.said.default.as_ref().map(absent_value);
            let otherwise = otherwise.map(|value| quote!(else { __whole.#ident = #value; }));
            quote!(if let ::core::option::Option::Some(__value) = #place { __whole.#ident = __value; } #otherwise)
        });
        let skipped = self.skipped.iter().filter_map(|Skipped { ident, absent }| {
            let value = absent_value(absent.as_ref()?);
            Some(quote!(__whole.#ident = #value;))
        });
        quote!(
            let mut __whole: Self = #value;
            #(#changes)*
            #(#skipped)*
            ::core::result::Result::Ok(__whole)
        )
    }
}

impl Named {
    /// Generates the value of the field, or its default if it is missing.
    fn value_or_absent(&self, place: &Ident) -> TokenStream {
        let name = &self.name;
        match &self.value.said.default {
            Some(absent) => {
                let value = absent_value(absent);
                quote!(match #place {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => #value,
                })
            }
            None => {
                let value = match self.value.has_schema() {
                    true => quote!(#place),
                    false => quote!(__derived::or_absent(#place)),
                };
                quote!(match #value {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => return ::core::result::Result::Err(
                        <__A::Error as __derived::serde::de::Error>::missing_field(#name)
                    ),
                })
            }
        }
    }
}

fn absent_value(absent: &Absent) -> TokenStream {
    match absent {
        Absent::Trait => quote!(::core::default::Default::default()),
        Absent::Function(path) => quote!(#path()),
        Absent::Shown { expression, .. } => match Literal::parse(expression) {
            Some(Literal::String(text)) => quote!(::core::convert::From::from(#text)),
            _ => quote!(#expression),
        },
    }
}

pub(crate) fn optional(tokens: Option<&TokenStream>) -> TokenStream {
    option(tokens)
}

fn option(tokens: Option<impl quote::ToTokens>) -> TokenStream {
    match tokens {
        Some(tokens) => quote!(::core::option::Option::Some(#tokens)),
        None => quote!(::core::option::Option::None),
    }
}

/// Generates a bound for the schema; bounds of floats are texts of literals.
fn bound(expression: Option<&Expr>) -> TokenStream {
    option(expression.map(|expression| match Literal::parse(expression) {
        Some(Literal::Float(text)) => quote!(__derived::Bound::Text(#text)),
        _ => quote!(__derived::Bound::Whole(__schema::Whole::new((#expression) as i128))),
    }))
}

fn lengths(least: &Option<Expr>, greatest: &Option<Expr>) -> (TokenStream, TokenStream) {
    let least = least.as_ref().map_or_else(|| quote!(0), |least| quote!(#least));
    (least, option(greatest.as_ref()))
}

/// A span at `tokens` for compile errors, with the hygiene of the macro call.
pub(crate) fn located_at(tokens: &impl Spanned) -> Span {
    Span::call_site().located_at(tokens.span())
}

/// Returns a compile error at `span`.
pub(crate) fn refuse<T>(span: Span, why: &str) -> Result<T> {
    Err(Error::new(span, why))
}
