//! Tests of lent and grown buffers.

use super::*;
use std::cell::Cell;

std::thread_local! {
    /// Size, in bytes, of the largest buffer for which the simulated heap has space.
    pub(crate) static HEAP: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[test]
fn lent_buffer_never_changes_its_size() {
    let mut bytes = [7; 10];
    let mut buffer = Buffer::from(&mut bytes);
    buffer.extend_limit(5);
    buffer.record_use(10);
    buffer.shrink_if_idle(0);
    assert!(buffer.is_lent());
    assert_eq!((buffer.limit(), buffer.bytes()), (10, &[7; 10][..]));
    assert_eq!(buffer.reborrow().bytes(), [7; 10]);
    buffer.bytes_mut()[0] = 8;
    assert_eq!(buffer.reborrow().ensure(10).map(|bytes| bytes[0]), Some(8));
    assert!(buffer.reborrow().ensure(11).is_none());
    assert_eq!(buffer.reborrow().into_grown(9).map(|bytes| bytes.len()), Some(10));
    assert!(buffer.reborrow().into_grown(11).is_none());
}

#[cfg(feature = "alloc")]
#[test]
fn buffer_grows_no_more_than_the_heap_permits() {
    let mut buffer = Buffer::grown(20_000);
    HEAP.set(3000);
    let mut size = |end| buffer.reborrow().ensure(end).map(|bytes| bytes.len());
    assert_eq!([size(2000), size(2900), size(3001), size(3000)], [Some(2500), Some(2900), None, Some(3000)]);
    HEAP.set(usize::MAX);
    assert_eq!(size(3001), Some(6000));
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_grows_on_demand_up_to_its_limit() {
    let mut buffer = Buffer::grown(20_000);
    assert!(!buffer.is_lent() && buffer.bytes().is_empty());
    let mut size = |end| buffer.reborrow().ensure(end).map(|bytes| bytes.len());
    assert_eq!([size(0), size(1), size(FIRST_SIZE)], [Some(0), Some(FIRST_SIZE), Some(FIRST_SIZE)]);
    // The buffer doubles, so that it does not grow for each small piece of output.
    let doubled = [size(FIRST_SIZE + 1), size(2 * FIRST_SIZE + 1), size(4 * FIRST_SIZE)];
    assert_eq!(doubled, [Some(2 * FIRST_SIZE), Some(4 * FIRST_SIZE), Some(4 * FIRST_SIZE)]);
    assert_eq!([size(20_000), size(20_001)], [Some(20_000), None]);
    // For a single large text, the buffer grows to a quarter more than needed.
    assert_eq!(Buffer::grown(100_000).reborrow().ensure(40_000).map(|bytes| bytes.len()), Some(50_000));
    buffer.extend_limit(1);
    assert_eq!(
        (buffer.limit(), buffer.reborrow().ensure(20_001).map(|bytes| bytes.len())),
        (20_001, Some(20_001))
    );
    buffer.bytes_mut()[20_000] = 7;
    assert_eq!(buffer.bytes()[20_000], 7);
    assert_eq!(buffer.reborrow().bytes()[20_000], 7);
    assert!(buffer.reborrow().into_grown(20_002).is_none());
    assert_eq!(buffer.reborrow().into_grown(3).map(|bytes| bytes.len()), Some(20_001));
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_shrinks_after_many_small_uses() {
    let grown = || {
        let mut buffer = Buffer::grown(100_000);
        assert!(buffer.reborrow().ensure(64_000).is_some());
        assert_eq!(buffer.bytes().len(), 80_000);
        buffer
    };
    let use_buffer = |buffer: &mut Buffer<'_>, times, used| {
        (0..times).for_each(|_| buffer.shrink_if_idle(used));
        buffer.bytes().len()
    };
    let mut buffer = grown();
    assert_eq!(use_buffer(&mut buffer, SMALL_USES - 1, 20_000), 80_000, "one use short of the limit");
    assert_eq!(use_buffer(&mut buffer, 1, 20_000), 40_000, "twice the bytes used");
    assert_eq!(use_buffer(&mut buffer, SMALL_USES, 20_000), 40_000, "half of the buffer in use");
    assert_eq!(use_buffer(&mut buffer, SMALL_USES, 0), FLOOR);
    assert_eq!(use_buffer(&mut buffer, SMALL_USES, 0), FLOOR, "the minimum size");
    // A buffer with an occasional large use does not shrink.
    let mut buffer = grown();
    for _ in 0..3 {
        assert_eq!(use_buffer(&mut buffer, SMALL_USES - 1, 1), 80_000);
        assert_eq!(use_buffer(&mut buffer, 1, 20_001), 80_000);
    }
    // A recorded use applies only to the next `shrink_if_idle`.
    buffer.record_use(30_000);
    buffer.record_use(5);
    assert_eq!(use_buffer(&mut buffer, 1, 0), 80_000);
    assert_eq!(use_buffer(&mut buffer, SMALL_USES - 1, 0), 80_000);
    assert_eq!(use_buffer(&mut buffer, 1, 0), FLOOR);
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_shrinks_after_a_time_of_small_uses() {
    let mut buffer = Buffer::grown(100_000);
    assert!(buffer.reborrow().ensure(64_000).is_some());
    // Each row has the bytes in use and the time, and the expected deadline and size.
    for (used, now, deadline, size) in [
        (20_001, 0, None, 80_000),
        (20_000, 100, Some(5_100), 80_000),
        (0, 5_099, Some(5_100), 80_000),
        // A large use ends the idle time.
        (20_001, 5_099, None, 80_000),
        (20_000, 6_000, Some(11_000), 80_000),
        (20_000, 11_000, None, 40_000),
        // After the buffer has shrunk, the time starts again.
        (0, 20_000, Some(25_000), 40_000),
        (0, 25_001, None, FLOOR),
    ] {
        let at = buffer.shrink_by_deadline(used, Millis(now));
        assert_eq!((at, buffer.bytes().len()), (deadline.map(Millis), size), "at {now} ms");
    }
    let mut bytes = [0; 8192];
    assert_eq!(Buffer::from(&mut bytes).shrink_by_deadline(0, Millis(9_000)), None);
}

#[cfg(feature = "alloc")]
#[test]
fn only_a_buffer_above_sixteen_kibibytes_shrinks() {
    for (size, is_large) in [(MAX_KEPT, false), (MAX_KEPT + 1, true)] {
        let mut buffer = Buffer::grown(size);
        assert!(buffer.reborrow().ensure(size).is_some());
        assert_eq!(buffer.is_large(), is_large, "{size}");
        (0..SMALL_USES).for_each(|_| buffer.shrink_if_idle(1));
        assert_eq!(buffer.bytes().len(), if is_large { FLOOR } else { size });
    }
}
