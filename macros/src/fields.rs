//! Code generation for fields: nodes of the schema, fields of forms, and decoding.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Expr, Field, FieldsNamed, Ident, LitInt, Result, Type};

use crate::attributes::{DefaultValue, FieldAttributes, HIDDEN_DEFAULT};
use crate::handler::is_named;
use crate::names::Case;
use crate::parse::{Literal, with_static_lifetimes};
use crate::scope::Scope;

/// The named fields of a struct or a variant.
pub(crate) struct Fields {
    members: Vec<Named>,
    skipped: Vec<Skipped>,
    /// The default of the whole struct, for missing fields.
    default: Option<DefaultValue>,
    open: bool,
}

/// A field that is a member of the JSON object.
struct Named {
    ident: Ident,
    name: String,
    value: Value,
}

/// A field that is not a member of the JSON object.
struct Skipped {
    ident: Ident,
    default: Option<DefaultValue>,
}

/// The type of a field with its attributes.
pub(crate) struct Value {
    ty: Type,
    /// The type as it occurs in constants: with static lifetimes, and with `__Recursive` in place of the derived type.
    /// `__Recursive` is a generated type whose schema is a reference to the schema of the derived type.
    schema_ty: TokenStream,
    attributes: FieldAttributes,
}

impl Value {
    pub(crate) fn new(field: &Field, scope: &Scope) -> Result<Value> {
        let mut attributes = FieldAttributes::parse(&field.attrs, scope.direction())?;
        attributes.expressions().try_for_each(|expression| scope.replace_self(expression))?;
        scope.check_slices(&field.ty, attributes.schema.is_some())?;
        if let Some(DefaultValue::Variant(path)) = &attributes.default
            && is_primitive(&field.ty)
        {
            return Err(Error::new_spanned(path, HIDDEN_DEFAULT));
        }
        let value = Value { ty: field.ty.clone(), schema_ty: scope.schema_type(&field.ty)?, attributes };
        if value.limit().is_some() && scope.depends_on_parameter(&field.ty) {
            return refuse(field.ty.span(), "a limit needs a type without type or const parameters");
        }
        Ok(value)
    }

    /// Returns whether the field has attributes that only a named field may have.
    pub(crate) fn is_member(&self) -> bool {
        let FieldAttributes { name, skip, default, header, title, .. } = &self.attributes;
        name.is_some() || *skip || default.is_some() || header.is_some() || title.is_some()
    }

    /// Returns whether attributes change or describe the schema of the field's type.
    pub(crate) fn is_limited(&self) -> bool {
        let FieldAttributes { description, format, .. } = &self.attributes;
        self.limit().is_some() || self.has_schema() || description.is_some() || format.is_some()
    }

    pub(crate) fn description(&self) -> Option<&TokenStream> {
        self.attributes.description.as_ref()
    }

    pub(crate) fn has_schema(&self) -> bool {
        self.attributes.schema.is_some()
    }

    /// Returns whether the type is an `Option`.
    pub(crate) fn is_option(&self) -> bool {
        is_named(&self.ty, "Option")
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    /// Generates the node of the field, with its limits, format and header: an expression of type `&'static Node`.
    pub(crate) fn node(&self) -> TokenStream {
        let (mut node, span) = (self.limited_node(), located_at(&self.ty));
        if let Some(format) = &self.attributes.format {
            node = quote_spanned!(span=> &const { __schema::Node::formatted(#node, #format) });
        }
        match &self.attributes.header {
            Some(name) => quote!(&__schema::Node::Header(#name, #node)),
            None => node,
        }
    }

    fn limited_node(&self) -> TokenStream {
        let (plain, span) = (self.type_node(), located_at(&self.ty));
        let Some(limit) = self.limit() else {
            return quote_spanned!(span=> &const { #plain });
        };
        let default = self.attributes.literal_default().and_then(|literal| match literal {
            Literal::Integer(text) => {
                let value = whole(text);
                Some(quote_spanned!(span=> .with_default(#value)))
            }
            Literal::String(text) => {
                let length = text.chars().count();
                Some(quote_spanned!(span=> .with_default_of_length(#length)))
            }
            _ => None,
        });
        quote_spanned!(span=> &const { #plain.limited_to(&const { #plain.inner()#limit #default }) })
    }

    /// Generates the node of the type, without the limits of attributes.
    fn type_node(&self) -> TokenStream {
        match &self.attributes.schema {
            // The decoder of an `Option` accepts `null`, so the node must be optional.
            Some(schema) if self.is_option() => quote!(match &const { #schema } {
                __node if __node.is_optional() => *__node,
                __node => __schema::Node::Optional(__node),
            }),
            Some(schema) => quote!({ #schema }),
            None => {
                let ty = &self.schema_ty;
                quote!(<#ty as __schema::Schema>::NODE)
            }
        }
    }

    /// Generates the JSON text of the default. Returns `None` if the schema contains no default.
    fn default_json(&self) -> Option<TokenStream> {
        match self.attributes.default.as_ref()? {
            DefaultValue::Literal { value, .. } => {
                let json = value.json();
                Some(quote!(#json))
            }
            DefaultValue::Variant(path) => {
                let ty = with_static_lifetimes(&self.ty);
                Some(quote_spanned!(path.span()=> const { <#ty>::__tool_json(&#path) }))
            }
            DefaultValue::Trait | DefaultValue::Function(_) => None,
        }
    }

    /// Generates the method call that sets the default of a field in a form. Returns `None` if the form does not show
    /// a default.
    fn form_default(&self) -> Option<TokenStream> {
        match self.attributes.default.as_ref()? {
            DefaultValue::Literal { value, .. } => Some(match value {
                Literal::Boolean(value) => quote!(.default_boolean(#value)),
                Literal::String(text) => quote!(.default_text(#text)),
                Literal::Integer(text) | Literal::Float(text) => {
                    quote!(.default_number(__derived::decimal_literal(#text)))
                }
            }),
            DefaultValue::Variant(path) => {
                let ty = with_static_lifetimes(&self.ty);
                Some(quote!(.default_text(<#ty>::__tool_name(&#path))))
            }
            DefaultValue::Trait | DefaultValue::Function(_) => None,
        }
    }

    /// Generates the method call that applies the limits to the node. Returns `None` if the field has no limits.
    fn limit(&self) -> Option<TokenStream> {
        let (attributes, span) = (&self.attributes, located_at(&self.ty));
        if attributes.has_range() {
            let (minimum, maximum) = (bound(attributes.minimum.as_ref()), bound(attributes.maximum.as_ref()));
            Some(quote_spanned!(span=> .with_range(#minimum, #maximum)))
        } else if attributes.has_length() {
            let (shortest, longest) = lengths(&attributes.shortest, &attributes.longest);
            Some(quote_spanned!(span=> .with_length(#shortest, #longest)))
        } else if attributes.has_item_count() {
            let (fewest, most) = lengths(&attributes.fewest, &attributes.most);
            Some(quote_spanned!(span=> .with_length(#fewest, #most)))
        } else {
            None
        }
    }

    /// Generates code that evaluates `decode`, binds the value to `__value`, checks its limits, and runs `keep`. On an
    /// error, the code returns from the function, whose error type is `error`.
    ///
    /// The generated code moves each `Result` as rarely as possible, because each copy of a large error takes stack at
    /// each level of nested arguments.
    pub(crate) fn decode(
        &self,
        decode: &TokenStream,
        keep: &TokenStream,
        error: &TokenStream,
    ) -> TokenStream {
        let check = self.check(error);
        quote!(match #decode {
            ::core::result::Result::Ok(__value) => {
                #check
                #keep
            }
            ::core::result::Result::Err(__error) => return ::core::result::Result::Err(__error),
        })
    }

    /// Generates code that returns an error if `__value` is not within the limits. Returns `None` if the field has no
    /// limits.
    fn check(&self, error: &TokenStream) -> Option<TokenStream> {
        let (attributes, span) = (&self.attributes, located_at(&self.ty));
        let is_valid = if attributes.has_range() {
            let (minimum, maximum) =
                (option(attributes.minimum.as_ref()), option(attributes.maximum.as_ref()));
            quote_spanned!(span=> __derived::Number::lies_within(&__value, #minimum, #maximum, __NODE.decimal_range()))
        } else if attributes.has_length() {
            let (shortest, longest) = lengths(&attributes.shortest, &attributes.longest);
            quote_spanned!(span=> __derived::Characters::has_length(&__value, #shortest, #longest))
        } else if attributes.has_item_count() {
            let (fewest, most) = lengths(&attributes.fewest, &attributes.most);
            quote_spanned!(span=> __derived::List::has_elements(&__value, #fewest, #most))
        } else {
            return None;
        };
        let (plain, limit) = (self.type_node(), self.limit());
        Some(quote_spanned!(span=>
            const __NODE: __schema::Node = #plain.inner()#limit;
            const __TEXT: [::core::primitive::u8; __derived::requirement_length(&__NODE)] =
                __derived::requirement(&__NODE);
            const __REQUIREMENT: &::core::primitive::str = __derived::as_text(&__TEXT);
            if !#is_valid {
                return ::core::result::Result::Err(__derived::error::<#error>(__REQUIREMENT));
            }
        ))
    }
}

impl Fields {
    pub(crate) fn new(
        fields: &FieldsNamed,
        case: Option<Case>,
        open: bool,
        default: Option<DefaultValue>,
        scope: &Scope,
    ) -> Result<Fields> {
        let mut all = Fields { members: Vec::new(), skipped: Vec::new(), default, open };
        for field in &fields.named {
            let Some(ident) = field.ident.clone() else { continue };
            let value = Value::new(field, scope)?;
            if value.attributes.skip {
                all.skipped.push(Skipped { ident, default: value.attributes.default });
                continue;
            }
            let rust_name = ident.unraw().to_string();
            let name = value
                .attributes
                .name
                .clone()
                .unwrap_or_else(|| case.map_or(rust_name.clone(), |case| case.convert_field(&rust_name)));
            if all.members.iter().any(|other| other.name == name) {
                return Err(Error::new(ident.span(), format!("another field also has the name `{name}`")));
            }
            all.members.push(Named { ident, name, value });
        }
        Ok(all)
    }

    /// Creates an empty list of fields.
    pub(crate) fn none(open: bool) -> Fields {
        Fields { members: Vec::new(), skipped: Vec::new(), default: None, open }
    }

    /// Generates the `Fields` value of the schema.
    pub(crate) fn schema(&self) -> TokenStream {
        let open = self.open;
        let fields = self.members.iter().map(|Named { name, value, .. }| {
            let title = option(value.attributes.title.as_ref());
            let description = option(value.attributes.description.as_ref());
            let node = value.node();
            let FieldAttributes { default, may_be_absent, .. } = &value.attributes;
            let has_default = default.is_some() || *may_be_absent || self.default.is_some();
            let default = option(value.default_json());
            quote!(__schema::Field {
                name: #name,
                title: #title,
                description: #description,
                node: #node,
                has_default: #has_default,
                default: #default,
            })
        });
        quote!(__schema::Fields { fields: &[#(#fields),*], open: #open })
    }

    /// Generates the fields of a form.
    pub(crate) fn form(&self) -> TokenStream {
        let fields = self.members.iter().map(|Named { ident, name, value }| {
            let (node, span) = (value.node(), located_at(ident));
            let FieldAttributes { title, description, default, .. } = &value.attributes;
            let has_default = default.is_some() || self.default.is_some();
            let title = title.as_ref().map(|title| quote!(.title(#title)));
            let description = description.as_ref().map(|text| quote!(.description(#text)));
            let default = value.form_default();
            quote_spanned!(span=> {
                const __NODE: &__schema::Node = #node;
                const __CHOICES: [__derived::Choice<'static>; __derived::choice_count(__NODE)] =
                    __derived::choices(__NODE);
                __derived::form_field(#name, __NODE, &__CHOICES, #has_default) #title #description #default
            })
        });
        quote!(&[#(#fields),*])
    }

    /// Generates the array of member names.
    pub(crate) fn names(&self) -> TokenStream {
        let names = self.members.iter().map(|field| &field.name);
        quote!(&[#(#names),*])
    }

    /// Generates code that reads the fields from `__members`. The code evaluates to `Ok` with the constructed value. On
    /// an error, the code returns from the function.
    pub(crate) fn read(&self, constructor: &TokenStream) -> TokenStream {
        let names = self.names();
        let unknown = if self.open { quote!(Ignored) } else { quote!(Member) };
        let slots: Vec<_> = (0..self.members.len()).map(|index| format_ident!("__field_{index}")).collect();
        let types = self.members.iter().map(|field| &field.value.ty);
        let arms = self.members.iter().zip(&slots).enumerate().map(|(index, (field, slot))| {
            let (name, ty) = (&field.name, &field.value.ty);
            let take = field.value.decode(
                &quote!(__derived::serde::de::MapAccess::next_value::<#ty>(&mut __members)),
                &quote!(#slot = ::core::option::Option::Some(__value)),
                &quote!(__A::Error),
            );
            quote!(#index => {
                if #slot.is_some() {
                    return ::core::result::Result::Err(__derived::serde::de::Error::duplicate_field(#name));
                }
                #take
            })
        });
        let end = match &self.default {
            Some(default) => self.overwrite_default(default, &slots),
            None => {
                let values = self.members.iter().zip(&slots).map(|(field, slot)| {
                    let (ident, value) = (&field.ident, field.value_or_default(slot));
                    quote!(#ident: #value,)
                });
                let skipped = self.skipped.iter().map(|Skipped { ident, default }| {
                    let value = default_value(default.as_ref().unwrap_or(&DefaultValue::Trait));
                    quote!(#ident: #value,)
                });
                quote!(::core::result::Result::Ok(#constructor { #(#values)* #(#skipped)* }))
            }
        };
        quote!({
            #(let mut #slots: ::core::option::Option<#types> = ::core::option::Option::None;)*
            let __name = __derived::Name::<__derived::#unknown>::new(#names);
            // No `?` in this loop, because each `?` would reserve stack space for a large error.
            loop {
                let __index = match __derived::serde::de::MapAccess::next_key_seed(&mut __members, __name) {
                    ::core::result::Result::Ok(::core::option::Option::Some(__index)) => __index,
                    ::core::result::Result::Ok(::core::option::Option::None) => break,
                    ::core::result::Result::Err(__error) => return ::core::result::Result::Err(__error),
                };
                match __index {
                    #(#arms)*
                    _ => if let ::core::result::Result::Err(__error) = __derived::skip(&mut __members) {
                        return ::core::result::Result::Err(__error);
                    },
                }
            }
            #end
        })
    }

    /// Generates code that overwrites fields of the default struct. A present field gets its value. A missing or
    /// skipped field gets its own default, if it has one.
    fn overwrite_default(&self, default: &DefaultValue, slots: &[Ident]) -> TokenStream {
        let value = default_value(default);
        let changes = self.members.iter().zip(slots).map(|(field, slot)| {
            let ident = &field.ident;
            let otherwise = field.value.attributes.default.as_ref().map(default_value);
            let otherwise = otherwise.map(|value| quote!(else { __whole.#ident = #value; }));
            quote!(if let ::core::option::Option::Some(__value) = #slot { __whole.#ident = __value; } #otherwise)
        });
        let skipped = self.skipped.iter().filter_map(|Skipped { ident, default }| {
            let value = default_value(default.as_ref()?);
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
    /// Generates the value of the field. For a missing field without a default, the code returns an error, unless the
    /// type has a value for missing fields, as an `Option` does.
    fn value_or_default(&self, slot: &Ident) -> TokenStream {
        let name = &self.name;
        match &self.value.attributes.default {
            Some(default) => {
                let value = default_value(default);
                quote!(match #slot {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => #value,
                })
            }
            // With `#[tool(schema = …)]`, the type need not implement `Schema`, which `or_absent` requires.
            None if self.value.has_schema() => quote!(match #slot {
                ::core::option::Option::Some(__value) => __value,
                ::core::option::Option::None => __derived::missing(#name)?,
            }),
            None => quote!(match __derived::or_absent(#slot) {
                ::core::option::Option::Some(__value) => __value,
                ::core::option::Option::None => return ::core::result::Result::Err(
                    <__A::Error as __derived::serde::de::Error>::missing_field(#name)
                ),
            }),
        }
    }
}

fn default_value(default: &DefaultValue) -> TokenStream {
    match default {
        DefaultValue::Trait => quote!(::core::default::Default::default()),
        DefaultValue::Function(path) => quote!(#path()),
        DefaultValue::Variant(path) => quote!(#path),
        DefaultValue::Literal { expression, value } => match value {
            Literal::String(text) => quote!(::core::convert::From::from(#text)),
            Literal::Float(text) => quote!({
                const __DECIMAL: __derived::Decimal = __derived::decimal_literal(#text);
                __derived::Number::from_literal(#expression, __DECIMAL)
            }),
            _ => quote!(#expression),
        },
    }
}

/// Returns whether the type has the name of a primitive number type, of `bool` or of `char`.
fn is_primitive(ty: &Type) -> bool {
    const NAMES: [&str; 16] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
        "u128", "usize",
    ];
    NAMES.iter().any(|name| is_named(ty, name))
}

/// Generates an `Option` of the tokens.
pub(crate) fn option(tokens: Option<impl quote::ToTokens>) -> TokenStream {
    match tokens {
        Some(tokens) => quote!(::core::option::Option::Some(#tokens)),
        None => quote!(::core::option::Option::None),
    }
}

/// Generates an `Option` of a bound for the schema. A float literal is passed as text.
fn bound(expression: Option<&Expr>) -> TokenStream {
    option(expression.map(|expression| match Literal::parse(expression) {
        Some(Literal::Float(text)) => quote!(__derived::Bound::Text(#text)),
        Some(Literal::Integer(text)) => {
            let value = whole(&text);
            quote!(__derived::Bound::Whole(#value))
        }
        _ => quote!(__derived::Bound::Cast((#expression) as ::core::primitive::i128)),
    }))
}

/// Generates the `Whole` of an integer literal.
fn whole(text: &str) -> TokenStream {
    let literal = |digits, ty| LitInt::new(&format!("{digits}{ty}"), Span::call_site());
    match text.strip_prefix('-').map(|digits| literal(digits, "i128")) {
        Some(value) => quote!(__schema::Whole::new(-#value)),
        None => {
            let value = literal(text, "u128");
            quote!(__schema::Whole::positive(#value))
        }
    }
}

fn lengths(least: &Option<Expr>, greatest: &Option<Expr>) -> (TokenStream, TokenStream) {
    let least = least.as_ref().map_or_else(|| quote!(0), |least| quote!(#least));
    (least, option(greatest.as_ref()))
}

/// Returns a span at `tokens` for compile errors, with the hygiene of the macro call.
pub(crate) fn located_at(tokens: &impl Spanned) -> Span {
    Span::call_site().located_at(tokens.span())
}

/// Returns a compile error at `span`.
pub(crate) fn refuse<T>(span: Span, why: &str) -> Result<T> {
    Err(Error::new(span, why))
}
