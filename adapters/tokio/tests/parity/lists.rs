//! Lists with pages that a worker generates.

use super::servers::{ADAPTERS, Limits, PAGE, PROMPT_COUNT};

#[test]
fn deferred_list_has_pages_of_the_application() {
    for adapter in ADAPTERS {
        let running = adapter.listen_tcp(Limits::default());
        let client = running.client();
        let names: Vec<_> = client.list_prompts().unwrap().iter().map(|prompt| prompt.name()).collect();
        let expected: Vec<_> = (0..PROMPT_COUNT).map(|row| format!("{}-{row}", row / PAGE * PAGE)).collect();
        assert_eq!(names, expected, "{adapter:?}");
        running.stop();
    }
}
