//! `ContentWalk`: finds the strings of content in a result that is still arriving.

use crate::json::partial::{PartialEntry, after_value, next_element_start, next_entry, string_length};

/// A walk over a result that is still arriving. The walk stops at the end of the received text, and continues when more
/// text has arrived.
///
/// The received text must be the start of valid JSON. The text may end after any byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentWalk {
    /// Offset of the next byte in the line.
    at: usize,
    /// Number of content blocks that have begun.
    blocks: u16,
    place: Place,
}

/// The place of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the result.
    Start,
    /// In the object of a task, before its member `result`.
    Task,
    /// In the object of the result.
    Result,
    /// In the array of content blocks or resource contents.
    Blocks,
    /// In an element of the array.
    Block,
    /// In the object of an embedded resource.
    Resource,
    /// In a string of a block or of an embedded resource.
    String { is_blob: bool, in_resource: bool },
    /// After all content.
    End,
}

/// The received part of a string, without the quotes. The part is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundString {
    pub(crate) start: usize,
    pub(crate) length: usize,
    /// Whether the closing quote has arrived.
    pub(crate) is_complete: bool,
    /// Whether the string is base64.
    pub(crate) is_blob: bool,
    /// The index of the content block.
    pub(crate) block: u16,
}

impl ContentWalk {
    pub(crate) const START: ContentWalk = ContentWalk { at: 0, blocks: 0, place: Place::Start };

    /// Returns the received part of the next string of content that is not empty. Returns `None` if no further content
    /// has arrived. A further call returns the same string, unless the caller has removed its text, or has called
    /// [`skip_string`](ContentWalk::skip_string). `line` is the received part of the line, and `result` is the offset
    /// of the result. With `is_task`, this result is a task.
    pub(crate) fn next_string(&mut self, line: &[u8], result: usize, is_task: bool) -> Option<FoundString> {
        loop {
            match self.place {
                Place::Start => {
                    let is_object = *line.get(result)? == b'{';
                    self.at = result.wrapping_add(1);
                    self.place = match is_object {
                        true if is_task => Place::Task,
                        true => Place::Result,
                        false => Place::End,
                    };
                }
                Place::End => return None,
                Place::String { is_blob, in_resource } => {
                    let (length, is_complete) = string_length(line.get(self.at..)?);
                    if length > 0 {
                        let block = self.blocks.saturating_sub(1);
                        return Some(FoundString { start: self.at, length, is_complete, is_blob, block });
                    }
                    if !is_complete {
                        return None;
                    }
                    self.at = self.at.wrapping_add(1);
                    self.place = if in_resource { Place::Resource } else { Place::Block };
                }
                container => self.enter(container, line)?,
            }
        }
    }

    /// Skips the complete string that [`next_string`](ContentWalk::next_string) returned. The text of the string stays
    /// in the line.
    pub(crate) fn skip_string(&mut self, found: FoundString) {
        if let Place::String { in_resource, .. } = self.place {
            self.at = found.start.wrapping_add(found.length).wrapping_add(1);
            self.place = if in_resource { Place::Resource } else { Place::Block };
        }
    }

    /// Moves into the next value in a container if the value may contain content, and past any other value. If there is
    /// no further value, moves past the end of the container. Returns `None`, and does not move, if more text must
    /// arrive first.
    fn enter(&mut self, container: Place, line: &[u8]) -> Option<()> {
        let rest = line.get(self.at..)?;
        let offset = |tail: &[u8]| line.len().wrapping_sub(tail.len());
        let (value, child) = if container == Place::Blocks {
            match next_element_start(rest)? {
                [b']', tail @ ..] => {
                    (self.at, self.place) = (offset(tail), container.parent());
                    return Some(());
                }
                value => (value, value.starts_with(b"{").then_some(Place::Block)),
            }
        } else {
            match next_entry(rest)? {
                PartialEntry::End(tail) => {
                    (self.at, self.place) = (offset(tail), container.parent());
                    return Some(());
                }
                PartialEntry::Member { name, value } => (value, container.child(name, *value.first()?)),
            }
        };
        match child {
            Some(child) => {
                self.blocks = self.blocks.saturating_add((child == Place::Block).into());
                (self.at, self.place) = (offset(value).wrapping_add(1), child);
            }
            None => self.at = offset(after_value(value)?),
        }
        Some(())
    }
}

impl Place {
    fn parent(self) -> Place {
        match self {
            Place::Resource => Place::Block,
            Place::Block => Place::Blocks,
            Place::Blocks => Place::Result,
            _ => Place::End,
        }
    }

    /// Returns the place of a member whose value starts with the byte `first`. Returns `None` if the value contains no
    /// content.
    fn child(self, name: &[u8], first: u8) -> Option<Place> {
        let in_resource = self == Place::Resource;
        match (self, name, first) {
            (Place::Task, b"result", b'{') => Some(Place::Result),
            (Place::Result, b"content" | b"contents", b'[') => Some(Place::Blocks),
            (Place::Block, b"resource", b'{') => Some(Place::Resource),
            (Place::Block | Place::Resource, b"text", b'"') => {
                Some(Place::String { is_blob: false, in_resource })
            }
            (Place::Block, b"data" | b"blob", b'"') | (Place::Resource, b"blob", b'"') => {
                Some(Place::String { is_blob: true, in_resource })
            }
            _ => None,
        }
    }
}
