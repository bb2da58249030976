//! `named_values!`: enums whose values are strings on the wire.

/// Defines an enum from a table of values and wire names. Also defines `ALL`, `as_str` and `from_json`.
macro_rules! named_values {
    (
        $(#[$docs:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $value:ident = $text:literal,)*
        }
        $(#[$all_doc:meta])*
        $all:vis const ALL;
        $from_json:vis fn from_json;
    ) => {
        $(#[$docs])*
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            $(#[$all_doc])*
            $all const ALL: [$name; [$($text),*].len()] = [$($name::$value),*];

            /// Returns the name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }

            /// Returns the value with exactly this name on the wire, or `None` for an unknown name.
            #[must_use]
            $from_json fn from_json(text: $crate::json::Str<'_>) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| text == *value.as_str())
            }
        }
    };
}
pub(crate) use named_values;
