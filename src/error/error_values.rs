//! `error_values!`: enums of errors that have one text each.

/// Defines an error enum from a table of its values and their texts. Also defines `message`.
macro_rules! error_values {
    ($(#[$docs:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            /// Returns the text. Some checks at compile time panic with this text.
            pub(crate) const fn message(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }

        impl $crate::json::WriteText for $name {
            fn pieces(&self, put: &mut dyn FnMut(&str)) {
                put(self.message());
            }
        }

        $crate::json::errors!($name);
    };
}
pub(crate) use error_values;
