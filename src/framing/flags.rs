//! `Flags`: state of the input and of the current line, one bit each.

/// A set of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    pub(super) const NONE: Flags = Flags(0);
    /// The input has ended.
    pub(super) const ENDED: Flags = Flags(1);
    /// The decoder discards the current line, because it is oversized.
    pub(super) const DISCARDING: Flags = Flags(2);
    /// The decoder has skipped a byte order mark at the start of the current line. The decoder skips only one mark per
    /// line.
    pub(super) const BYTE_ORDER_MARK: Flags = Flags(4);
    /// The machine emits a string of the current line in chunks, and removes each emitted chunk from the line.
    pub(super) const CHUNKED: Flags = Flags(8);
    /// The machine has emitted chunks of a line, but duplicate members have replaced the tool call or its argument.
    /// [`LineDecoder::take_aborted`](super::LineDecoder::take_aborted) has not reported this yet.
    pub(super) const ABORTED: Flags = Flags(16);
    /// A part of the current line was removed before the release of the line.
    pub(super) const SHORTENED: Flags = Flags(Flags::BYTE_ORDER_MARK.0 | Flags::CHUNKED.0);
    /// All flags that the start of a new line removes.
    pub(super) const LINE: Flags = Flags(Flags::DISCARDING.0 | Flags::SHORTENED.0);
    /// The current line may be complete without another byte.
    pub(super) const MAY_END: Flags = Flags(Flags::ENDED.0 | Flags::DISCARDING.0);

    /// Returns whether any flag of `flags` is set.
    #[inline]
    pub(super) fn any(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    #[inline]
    pub(super) fn add(&mut self, flags: Flags) {
        self.0 |= flags.0;
    }

    #[inline]
    pub(super) fn remove(&mut self, flags: Flags) {
        self.0 &= !flags.0;
    }
}
