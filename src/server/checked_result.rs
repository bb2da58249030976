//! Checks structured results against the output schema, in debug builds with the features `std` and `derive`.

use crate::server::call::Call;
use crate::server::reply::Reply;

impl<'a> Call<'a> {
    /// Returns the output schema of the tool. Returns `None` if the tool has no schema or belongs to a dynamic list,
    /// and in builds that do not check results.
    #[inline]
    pub(crate) fn schema_to_check(&self) -> Option<&'a str> {
        if cfg!(all(feature = "derive", feature = "std", debug_assertions)) {
            return self.tool().and_then(|tool| tool.result_schema());
        }
        None
    }
}

impl Reply<'_> {
    /// Responds with structured content. A debug build with the features `std` and `derive` responds with a failure if
    /// the content does not match the schema.
    #[inline]
    pub(crate) fn structured_with_schema<T>(self, value: &T, schema: Option<&str>)
    where
        T: serde_core::Serialize + ?Sized,
    {
        self.content(|result| {
            result.structured(value);
            #[cfg(all(feature = "derive", feature = "std", debug_assertions))]
            check(result, schema);
            let _ = schema;
        });
    }
}

/// If the structured content does not match the schema, replaces the content with a failure.
#[cfg(all(feature = "derive", feature = "std", debug_assertions))]
fn check(result: &mut crate::server::ToolResult<'_, '_>, schema: Option<&str>) {
    use crate::json::Json;

    let schema = schema.and_then(|schema| Json::parse(schema.as_bytes()).ok());
    let content = result.structured_json();
    let checked = schema.zip(content).map(|(schema, content)| crate::schema::check(schema, content));
    if let Some(Err(violation)) = checked {
        result.fail_instead(format_args!(
            "the structured content does not match the output schema: {violation}"
        ));
    }
}
