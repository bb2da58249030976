//! What an outgoing message is and what it belongs to, for transports with more than one stream.

/// The host's own name for the place that a message came from: an HTTP exchange, a WebSocket, a topic. The machine
/// only hands it back, on every message that belongs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct StreamId(pub u32);

impl StreamId {
    /// The stream of a host that has only one.
    pub const NONE: StreamId = StreamId(0);
}

/// What kind of message an outgoing frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutboundMessageKind {
    /// The answer to a request: a result or an error. Its stream has seen its last message for that request.
    Response,
    /// A notification.
    Notification,
    /// A request of our own.
    Request,
}

/// What an outgoing message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// To the connection as a whole.
    Connection,
    /// To a request that came in on this stream: its answer, its progress, its log lines.
    Request(StreamId),
    /// To a subscription that was opened on this stream.
    Subscription(StreamId),
}

/// One whole outgoing message, with what it is. Frame mode only.
#[derive(Debug, Clone, Copy)]
pub struct OutboundMessage<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) about: About,
}

impl<'a> OutboundMessage<'a> {
    /// The message: one JSON text, without a newline.
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.message
    }

    /// What kind of message it is.
    #[must_use]
    pub fn kind(&self) -> OutboundMessageKind {
        self.about.kind
    }

    /// What it belongs to.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.about.relation
    }
}

/// Kind and owner of an outgoing message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) kind: OutboundMessageKind,
    pub(crate) relation: Relation,
}

/// The mark that stands before each message of a buffer in frame mode: length, kind, owner, stream.
pub(crate) const MARK: usize = 10;

impl About {
    pub(crate) fn response(stream: StreamId) -> About {
        About { kind: OutboundMessageKind::Response, relation: Relation::Request(stream) }
    }

    pub(crate) fn related(stream: StreamId) -> About {
        About { kind: OutboundMessageKind::Notification, relation: Relation::Request(stream) }
    }

    /// A notification for a subscription.
    pub(crate) fn subscribed(stream: StreamId) -> About {
        About { kind: OutboundMessageKind::Notification, relation: Relation::Subscription(stream) }
    }

    /// The end of a subscription.
    pub(crate) fn unsubscribed(stream: StreamId) -> About {
        About { kind: OutboundMessageKind::Response, relation: Relation::Subscription(stream) }
    }

    pub(crate) const NOTIFICATION: About =
        About { kind: OutboundMessageKind::Notification, relation: Relation::Connection };

    pub(crate) const REQUEST: About =
        About { kind: OutboundMessageKind::Request, relation: Relation::Connection };

    /// A request of our own that belongs to a request in flight.
    pub(crate) fn asked(stream: StreamId) -> About {
        About { kind: OutboundMessageKind::Request, relation: Relation::Request(stream) }
    }

    fn encode(self, length: usize) -> [u8; MARK] {
        let [l0, l1, l2, l3] = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        let kind = match self.kind {
            OutboundMessageKind::Response => 0,
            OutboundMessageKind::Notification => 1,
            OutboundMessageKind::Request => 2,
        };
        let (owner, StreamId(stream)) = match self.relation {
            Relation::Connection => (0, StreamId::NONE),
            Relation::Request(stream) => (1, stream),
            Relation::Subscription(stream) => (2, stream),
        };
        let [s0, s1, s2, s3] = stream.to_le_bytes();
        [l0, l1, l2, l3, kind, owner, s0, s1, s2, s3]
    }

    fn decode(mark: [u8; MARK]) -> (usize, About) {
        let [l0, l1, l2, l3, kind, owner, s0, s1, s2, s3] = mark;
        let length = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
        let stream = StreamId(u32::from_le_bytes([s0, s1, s2, s3]));
        let kind = match kind {
            0 => OutboundMessageKind::Response,
            1 => OutboundMessageKind::Notification,
            _ => OutboundMessageKind::Request,
        };
        let relation = match owner {
            1 => Relation::Request(stream),
            2 => Relation::Subscription(stream),
            _ => Relation::Connection,
        };
        (length, About { kind, relation })
    }
}

/// What marks messages. Who takes lines does not link it: it is reached through this alone.
pub(crate) trait Marking: Sync {
    /// Writes the mark of a message that stands in `bytes` behind the room for it.
    fn mark(&self, bytes: &mut [u8], about: About);
    /// The first of some messages with their marks, and what it is.
    fn first<'m>(&self, bytes: &'m [u8]) -> Option<(&'m [u8], About)>;
}

struct Marks;

/// A thin reference to it takes one word.
pub(crate) static MARKS: &dyn Marking = &Marks;

impl Marking for Marks {
    fn mark(&self, bytes: &mut [u8], about: About) {
        if let Some((mark, message)) = bytes.split_first_chunk_mut::<MARK>() {
            *mark = about.encode(message.len());
        }
    }

    fn first<'m>(&self, bytes: &'m [u8]) -> Option<(&'m [u8], About)> {
        let (mark, rest) = bytes.split_first_chunk::<MARK>()?;
        let (length, about) = About::decode(*mark);
        Some((rest.get(..length).unwrap_or(rest), about))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back() {
        for kind in
            [OutboundMessageKind::Response, OutboundMessageKind::Notification, OutboundMessageKind::Request]
        {
            for relation in [
                Relation::Connection,
                Relation::Request(StreamId(7)),
                Relation::Subscription(StreamId(u32::MAX)),
            ] {
                let about = About { kind, relation };
                assert_eq!(About::decode(about.encode(70_000)), (70_000, about));
            }
        }
    }
}
