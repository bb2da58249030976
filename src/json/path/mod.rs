//! Typed access to members, with errors that name the path.
//!
//! Example: "`motor[2].speed`: expected an integer, found a string".

use super::string::Str;
use super::value::{Json, Kind};
use super::write_text::{WriteText, prints};
use core::fmt;

/// A position inside a value, and the path to it. Typed getters read the value; their errors name the path.
///
/// ```
/// use mcp_proto::json::Json;
/// let json = Json::parse(br#"{"motor":[{"speed":12},{"speed":"fast"}]}"#)?;
/// assert_eq!(json.at("motor").item(0).at("speed").integer(), Ok(12));
/// let error = json.at("motor").item(1).at("speed").integer().unwrap_err();
/// assert_eq!(error.to_string(), "`motor[1].speed`: expected an integer, found a string");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct At<'a, 'k> {
    path: Path<'k>,
    found: Found<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Found<'a> {
    Value(Json<'a>),
    Nothing,
    /// The value at a step is not the object or array that the step needs. The path ends at this value.
    Blocked(Problem),
}

/// An access error: the reason why a typed access failed, and its path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError<'k> {
    path: Path<'k>,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Missing,
    Wrong { expected: Expected, found: Kind },
    Range,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Kind(Kind),
    Integer,
    Unsigned,
}

/// The number of stored steps. A longer path keeps its last steps. With more steps, clippy would report
/// `result_large_err` in the code of callers.
const STEPS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Path<'k> {
    steps: [Step<'k>; STEPS],
    /// The number of steps. Beyond `STEPS`, each new step replaces the oldest stored step.
    length: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'k> {
    Name(&'k str),
    Index(usize),
}

impl<'k> Path<'k> {
    const EMPTY: Path<'static> = Path { steps: [Step::Index(0); STEPS], length: 0 };

    fn with(mut self, step: Step<'k>) -> Path<'k> {
        if self.is_cut() || usize::from(self.length) == STEPS {
            let [_, kept @ ..] = self.steps;
            for (place, step) in self.steps.iter_mut().zip(kept) {
                *place = step;
            }
        }
        let place = usize::from(self.length).min(STEPS.wrapping_sub(1));
        if let Some(place) = self.steps.get_mut(place) {
            *place = step;
        }
        self.length = self.length.saturating_add(1);
        self
    }

    fn is_cut(&self) -> bool {
        usize::from(self.length) > STEPS
    }
}

impl<'a> Json<'a> {
    /// Returns the position of the member with this name, for a typed getter.
    #[must_use]
    pub fn at<'k>(self, key: &'k str) -> At<'a, 'k> {
        At { path: Path::EMPTY, found: Found::Value(self) }.at(key)
    }

    /// Returns the position of an element, for a typed getter. The first element has index 0.
    #[must_use]
    pub fn item(self, index: usize) -> At<'a, 'static> {
        At { path: Path::EMPTY, found: Found::Value(self) }.item(index)
    }
}

impl<'a, 'k> At<'a, 'k> {
    /// Returns the position of the member with this name in the current object.
    #[must_use]
    pub fn at(self, key: &'k str) -> At<'a, 'k> {
        self.step(Step::Name(key), Kind::Object, |json| json.get(key))
    }

    /// Returns the position of an element in the current array. The first element has index 0.
    #[must_use]
    pub fn item(self, index: usize) -> At<'a, 'k> {
        self.step(Step::Index(index), Kind::Array, |json| json.index(index))
    }

    /// Returns the position, or `None` if the member or element is missing or `null`.
    #[must_use]
    pub fn optional(self) -> Option<At<'a, 'k>> {
        match self.found {
            Found::Nothing => None,
            Found::Value(json) if json.is_null() => None,
            _ => Some(self),
        }
    }

    /// Returns the value, of any kind.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing, or if a value on the path is of another kind.
    pub fn json(self) -> Result<Json<'a>, AccessError<'k>> {
        match self.found {
            Found::Value(json) => Ok(json),
            Found::Nothing => Err(self.error(Problem::Missing)),
            Found::Blocked(problem) => Err(self.error(problem)),
        }
    }

    /// Returns an integer.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing, of another kind or out of range.
    pub fn integer(self) -> Result<i64, AccessError<'k>> {
        let json = self.json()?;
        json.integer().ok_or_else(|| self.not_an_integer(json, Expected::Integer))
    }

    /// Returns an unsigned integer.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing, of another kind or out of range.
    pub fn unsigned(self) -> Result<u64, AccessError<'k>> {
        let json = self.json()?;
        json.unsigned().ok_or_else(|| self.not_an_integer(json, Expected::Unsigned))
    }

    /// Returns the text of a string.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or of another kind.
    pub fn string(self) -> Result<Str<'a>, AccessError<'k>> {
        self.convert(Kind::String, Json::string)
    }

    /// Returns a boolean.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or of another kind.
    pub fn boolean(self) -> Result<bool, AccessError<'k>> {
        self.convert(Kind::Bool, Json::boolean)
    }

    /// Returns the text of a number.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or of another kind.
    pub fn number(self) -> Result<&'a str, AccessError<'k>> {
        self.convert(Kind::Number, Json::number)
    }

    /// Returns an array.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or of another kind.
    pub fn array(self) -> Result<Json<'a>, AccessError<'k>> {
        self.of_kind(Kind::Array)
    }

    /// Returns an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or of another kind.
    pub fn object(self) -> Result<Json<'a>, AccessError<'k>> {
        self.of_kind(Kind::Object)
    }

    fn step(self, step: Step<'k>, kind: Kind, next: impl FnOnce(Json<'a>) -> Option<Json<'a>>) -> At<'a, 'k> {
        match self.found {
            Found::Value(json) if json.kind() == kind => {
                At { path: self.path.with(step), found: next(json).map_or(Found::Nothing, Found::Value) }
            }
            Found::Value(json) => {
                let problem = Problem::Wrong { expected: Expected::Kind(kind), found: json.kind() };
                At { path: self.path, found: Found::Blocked(problem) }
            }
            // The path of the error ends at the first value that is missing or of a wrong kind.
            Found::Nothing | Found::Blocked(_) => self,
        }
    }

    fn of_kind(self, kind: Kind) -> Result<Json<'a>, AccessError<'k>> {
        self.convert(kind, |json| (json.kind() == kind).then_some(json))
    }

    fn convert<T>(
        self,
        kind: Kind,
        convert: impl FnOnce(Json<'a>) -> Option<T>,
    ) -> Result<T, AccessError<'k>> {
        let json = self.json()?;
        let expected = Expected::Kind(kind);
        convert(json).ok_or_else(|| self.error(Problem::Wrong { expected, found: json.kind() }))
    }

    fn not_an_integer(self, json: Json<'_>, expected: Expected) -> AccessError<'k> {
        let negative = json.bytes().starts_with(b"-");
        if json.is_integer_text() && !(negative && expected == Expected::Unsigned) {
            return self.error(Problem::Range);
        }
        self.error(Problem::Wrong { expected, found: json.kind() })
    }

    fn error(self, problem: Problem) -> AccessError<'k> {
        AccessError { path: self.path, problem }
    }
}

impl AccessError<'_> {
    /// Returns whether the value is missing, rather than of another kind or out of range.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.problem == Problem::Missing
    }
}

impl WriteText for Path<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        let mut first = true;
        if self.is_cut() {
            put("…");
            first = false;
        }
        for step in self.steps.iter().take(usize::from(self.length)) {
            match step {
                Step::Name(name) if first => put(name),
                Step::Name(name) => (".", name).pieces(put),
                Step::Index(index) => ("[", *index, "]").pieces(put),
            }
            first = false;
        }
    }
}

impl WriteText for AccessError<'_> {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        if self.path.length == 0 {
            put("the value");
        } else {
            ("`", &self.path, "`").pieces(put);
        }
        let (expected, found) = match self.problem {
            Problem::Missing => return put(" is missing"),
            Problem::Range => return put(": the integer is out of range"),
            Problem::Wrong { expected, found } => (expected, found),
        };
        let expected: &dyn WriteText = match &expected {
            Expected::Kind(kind) => kind,
            Expected::Integer => &"an integer",
            Expected::Unsigned => &"an integer of at least 0",
        };
        (": expected ", expected, ", found ", found).pieces(put);
    }
}

prints!(AccessError<'_>);

/// Writes the same text as `Display`.
impl fmt::Debug for AccessError<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl core::error::Error for AccessError<'_> {}

#[cfg(test)]
mod tests;
