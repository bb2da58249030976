//! Conversion of names for `rename_all`, exactly as in serde.

/// A name case.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// Parses the name of a case. An error lists the known cases.
    pub(crate) fn from_name(name: &str) -> Result<Case, String> {
        let found = CASES.iter().find(|(known, _)| *known == name);
        found.map(|(_, case)| *case).ok_or_else(|| {
            let names: Vec<_> = CASES.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            format!("unknown case; the known cases are {}", names.join(", "))
        })
    }

    /// Converts the name of a field from snake_case.
    pub(crate) fn convert_field(self, name: &str) -> String {
        match self {
            Case::Lower | Case::Snake => name.to_owned(),
            Case::Upper | Case::ScreamingSnake => name.to_ascii_uppercase(),
            Case::Pascal => name.split('_').map(|word| map_first(word, char::to_ascii_uppercase)).collect(),
            Case::Camel => map_first(&Case::Pascal.convert_field(name), char::to_ascii_lowercase),
            Case::Kebab => name.replace('_', "-"),
            Case::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// Converts the name of a variant from PascalCase.
    pub(crate) fn convert_variant(self, name: &str) -> String {
        match self {
            Case::Lower => name.to_ascii_lowercase(),
            Case::Upper => name.to_ascii_uppercase(),
            Case::Pascal => name.to_owned(),
            Case::Camel => map_first(name, char::to_ascii_lowercase),
            Case::Snake => {
                let mut snake = String::new();
                for (at, letter) in name.char_indices() {
                    if at > 0 && letter.is_uppercase() {
                        snake.push('_');
                    }
                    snake.push(letter.to_ascii_lowercase());
                }
                snake
            }
            Case::ScreamingSnake | Case::Kebab | Case::ScreamingKebab => {
                self.convert_field(&Case::Snake.convert_variant(name))
            }
        }
    }
}

/// Changes the first letter of a word.
fn map_first(word: &str, change: impl Fn(&char) -> char) -> String {
    let mut letters = word.chars();
    letters.next().map(|letter| change(&letter)).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn names_are_converted_as_in_serde() {
        for (case, field, odd, variant) in [
            ("lowercase", "very_tasty", "_a__b1", "verytasty"),
            ("UPPERCASE", "VERY_TASTY", "_A__B1", "VERYTASTY"),
            ("PascalCase", "VeryTasty", "AB1", "VeryTasty"),
            ("camelCase", "veryTasty", "aB1", "veryTasty"),
            ("snake_case", "very_tasty", "_a__b1", "very_tasty"),
            ("SCREAMING_SNAKE_CASE", "VERY_TASTY", "_A__B1", "VERY_TASTY"),
            ("kebab-case", "very-tasty", "-a--b1", "very-tasty"),
            ("SCREAMING-KEBAB-CASE", "VERY-TASTY", "-A--B1", "VERY-TASTY"),
        ] {
            let Ok(case) = Case::from_name(case) else { panic!("{case}") };
            assert_eq!(case.convert_field("very_tasty"), field);
            assert_eq!(case.convert_field("_a__b1"), odd);
            assert_eq!(case.convert_variant("VeryTasty"), variant);
        }
        assert!(Case::from_name("Title Case").is_err());
    }
}
