//! Event streams, compared with a reference that sees the whole text.

use mcp_proto::Millis;
use mcp_proto_http::sse::{SseDecoder, SseItem};

/// The state after a blank line: the event, if one has ended, the last id, and the reconnection time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    /// Number of bytes up to this point.
    end: usize,
    /// Name and data.
    event: Option<(Vec<u8>, Vec<u8>)>,
    last_id: Vec<u8>,
    retry: Option<Millis>,
    /// Buffer size that suffices in any case.
    size: usize,
}

/// Interprets the text by the rules of WHATWG HTML, "Interpreting an event stream".
fn expected(text: &[u8]) -> (Vec<Block>, Option<Millis>) {
    let mut position = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let (mut blocks, mut retry) = (Vec::new(), None);
    let (mut last_id, mut id, mut name, mut data) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // Count the longest id, because the decoder keeps an earlier id if a later one does not fit.
    let (mut size, mut longest_id, mut next_longest_id) = (0, 0, 0);
    while let Some(length) = text[position..].iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        let line = &text[position..position + length];
        let end = position + length + 1;
        position = end + usize::from(text[end - 1..].starts_with(b"\r\n"));
        if line.is_empty() {
            size += longest_id;
            longest_id = next_longest_id;
            last_id.clone_from(&id);
            let event = data.split_last().map(|(_, data)| {
                (if name.is_empty() { b"message".to_vec() } else { name.clone() }, data.to_vec())
            });
            blocks.push(Block { end, event, last_id: last_id.clone(), retry, size });
            (name, data, size) = (Vec::new(), Vec::new(), 0);
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => name = value.to_vec(),
            b"data" => data.extend([value, b"\n"].concat()),
            b"id" if !value.contains(&0) => {
                id = value.to_vec();
                next_longest_id = next_longest_id.max(id.len());
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).unwrap();
                retry = Some(Millis(digits.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
        size += value.len() + 1;
    }
    (blocks, retry)
}

/// An item with the position of its end, the last id and the reconnection time.
type Seen = (usize, Option<(Vec<u8>, Vec<u8>)>, Vec<u8>, Option<Millis>);

/// Decodes with a buffer of `capacity` bytes. `pieces` are the lengths of the first pieces; one more piece has the
/// rest.
fn seen(text: &[u8], capacity: usize, pieces: &[usize]) -> (Vec<Seen>, Vec<u8>, Option<Millis>) {
    let mut buffer = vec![0xEE; capacity];
    let mut decoder = SseDecoder::new(buffer.as_mut_slice());
    let (mut items, mut position) = (Vec::new(), 0_usize);
    for length in pieces.iter().copied().chain([usize::MAX]) {
        let end = position.saturating_add(length).min(text.len());
        loop {
            let step = decoder.decode(&text[position..end]);
            position += step.consumed;
            let Some(item) = step.item else { break };
            let event = match item {
                SseItem::Event(event) => {
                    Some((event.name.to_vec(), event.data.to_vec(), event.last_event_id.to_vec()))
                }
                _ => None,
            };
            let last_id = decoder.last_event_id().to_vec();
            assert!(event.as_ref().is_none_or(|(_, _, id)| *id == last_id));
            let event = event.map(|(name, data, _)| (name, data));
            items.push((position, event, last_id, decoder.retry()));
        }
        assert_eq!(position, end, "without an item, the decoder takes all input");
    }
    (items, decoder.last_event_id().to_vec(), decoder.retry())
}

/// Compares the decoder with the reference, for one stream. `capacity` and `pieces` are those of [`seen`].
pub(crate) fn check(text: &[u8], capacity: usize, pieces: &[usize]) {
    let items = seen(text, capacity, &[]);
    let shown = text.escape_ascii();
    assert_eq!(items, seen(text, capacity, pieces), "cut differently: {shown}");
    let (blocks, retry) = expected(text);
    assert_eq!(items.2, retry, "{shown}");
    let mut items = items.0.into_iter().peekable();
    // After a block that might not fit, the last id is unknown.
    let mut id_is_known = true;
    for block in blocks {
        let item = items.next_if(|item| item.0 == block.end);
        let fits = block.size <= capacity;
        match &item {
            Some((_, None, ..)) => assert!(!fits, "{shown}"),
            Some((_, event, ..)) => assert_eq!(*event, block.event, "{shown}"),
            None => assert!(block.event.is_none(), "missing {block:?}: {shown}"),
        }
        id_is_known &= fits;
        if let Some((_, _, last_id, retry)) = item {
            assert_eq!(retry, block.retry, "{shown}");
            assert!(!id_is_known || last_id == block.last_id, "{shown}");
        }
    }
    assert_eq!(items.next(), None, "{shown}");
}
