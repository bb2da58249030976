//! Client views: base64 round trips, and arbitrary JSON without a panic.

use crate::json_texts;
use mcp_proto::client::{
    Base64, Base64Error, BlockView, CompletionView, ContentView, Freshness, ImplementationView,
    PromptResultView, PromptView, ReadResultView, ResourceView, ToolResultView, ToolView,
};
use mcp_proto::json::Json;
use proptest::prelude::*;

/// Encodes bytes as base64, as in RFC 4648.
fn encoded(bytes: &[u8], alphabet: &[u8; 64], padded: bool) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..=group.len() {
            text.push(alphabet[(bits >> (18 - 6 * at)) as usize & 63] as char);
        }
        if padded {
            text.extend(std::iter::repeat_n('=', 3 - group.len()));
        }
    }
    text
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

proptest! {
    #[test]
    fn base64_bytes_survive_the_round_trip(bytes in prop::collection::vec(any::<u8>(), 0..200), url: bool, padded: bool) {
        let text = serde_json::to_string(&encoded(&bytes, if url { URL } else { STANDARD }, padded)).unwrap();
        let data = Base64::new(Json::parse(text.as_bytes()).unwrap().string().unwrap());
        prop_assert_eq!(data.decoded_len(), bytes.len());
        let mut buffer = vec![0; bytes.len()];
        prop_assert_eq!(data.decode(&mut buffer), Ok(&bytes[..]));
        if let Some((_, short)) = buffer.split_first_mut() {
            prop_assert_eq!(data.decode(short), Err(Base64Error::TooShort { needed: bytes.len() }));
        }
    }

    /// If a text decodes, the decoded length must equal the announced length.
    #[test]
    fn any_text_decodes_as_base64_or_fails(text in "[A-Za-z0-9+/=_\n -]{0,40}") {
        let text = serde_json::to_string(&text).unwrap();
        let data = Base64::new(Json::parse(text.as_bytes()).unwrap().string().unwrap());
        let mut buffer = [0; 40];
        if let Ok(bytes) = data.decode(&mut buffer) {
            prop_assert_eq!(bytes.len(), data.decoded_len());
        }
    }

    #[test]
    fn client_views_accept_any_json(text in json_texts::json()) {
        let json = Json::parse(text.as_bytes()).unwrap();
        let _ = (Freshness::from_json(json), CompletionView::from_json(json).values().count(), ImplementationView::from_json(json).icons().count());
        let _ = (ToolView::from_json(json).display_name(), ToolView::from_json(json).input_schema(), PromptView::from_json(json).arguments().count());
        let _ = (PromptResultView::from_json(json).messages().count(), ReadResultView::from_json(json).text());
        let _ = (ResourceView::from_json(json).annotations().audience().count(), ToolResultView::from_json(json).text());
        // An unknown block keeps its whole JSON.
        if let ContentView::Other(other) = BlockView::from_json(json).content() {
            prop_assert_eq!(other.raw(), json.raw());
        }
    }
}
