use super::*;

#[test]
fn what_is_lent_stays_as_it_is() {
    let mut bytes = [7; 10];
    let mut buffer = Buffer::from(&mut bytes);
    buffer.extend_limit(5);
    buffer.note(10);
    buffer.settle(0);
    assert!(buffer.is_lent());
    assert_eq!((buffer.limit(), buffer.bytes()), (10, &[7; 10][..]));
    assert_eq!(buffer.room().bytes(), [7; 10]);
    buffer.bytes_mut()[0] = 8;
    assert_eq!(buffer.room().ensure(10).map(|bytes| bytes[0]), Some(8));
    assert!(buffer.room().ensure(11).is_none());
    assert_eq!(buffer.room().into_grown(9).map(|bytes| bytes.len()), Some(10));
    assert!(buffer.room().into_grown(11).is_none());
}

#[test]
fn nothing_is_stored_where_only_the_length_counts() {
    assert!(Room::Measure.ensure(0).is_none() && Room::Measure.bytes().is_empty());
    assert!(Room::Measure.into_grown(0).is_none());
}

#[cfg(feature = "alloc")]
#[test]
fn what_grows_does_so_as_it_is_needed_and_to_its_limit() {
    let mut buffer = Buffer::grown(20_000);
    assert!(!buffer.is_lent() && buffer.bytes().is_empty());
    let mut size = |end| buffer.room().ensure(end).map(|bytes| bytes.len());
    assert_eq!([size(0), size(1), size(FLOOR)], [Some(0), Some(FLOOR), Some(FLOOR)]);
    // Twice what there was, so that what comes in small pieces does not grow with each of them.
    assert_eq!([size(FLOOR + 1), size(12_000), size(15_001)], [Some(2 * FLOOR), Some(16_384), Some(16_384)]);
    assert_eq!([size(20_000), size(20_001)], [Some(20_000), None]);
    // A large text at once takes no more than a quarter beside it.
    assert_eq!(Buffer::grown(100_000).room().ensure(40_000).map(|bytes| bytes.len()), Some(50_000));
    buffer.extend_limit(1);
    assert_eq!(
        (buffer.limit(), buffer.room().ensure(20_001).map(|bytes| bytes.len())),
        (20_001, Some(20_001))
    );
    buffer.bytes_mut()[20_000] = 7;
    assert_eq!(buffer.bytes()[20_000], 7);
    assert_eq!(buffer.room().bytes()[20_000], 7);
    assert!(buffer.room().into_grown(20_002).is_none());
    assert_eq!(buffer.room().into_grown(3).map(|bytes| bytes.len()), Some(20_001));
}

#[cfg(feature = "alloc")]
#[test]
fn what_is_much_larger_than_its_use_gives_memory_back() {
    let grown = || {
        let mut buffer = Buffer::grown(100_000);
        assert!(buffer.room().ensure(64_000).is_some());
        assert_eq!(buffer.bytes().len(), 80_000);
        buffer
    };
    let settle = |buffer: &mut Buffer<'_>, times, used| {
        (0..times).for_each(|_| buffer.settle(used));
        buffer.bytes().len()
    };
    let mut buffer = grown();
    assert_eq!(settle(&mut buffer, CALM - 1, 20_000), 80_000, "it might be used again");
    assert_eq!(settle(&mut buffer, 1, 20_000), 40_000, "twice what it was used for");
    assert_eq!(settle(&mut buffer, CALM, 20_000), 40_000, "half is no waste");
    assert_eq!(settle(&mut buffer, CALM, 0), FLOOR);
    assert_eq!(settle(&mut buffer, CALM, 0), FLOOR, "so much is kept");
    // Whoever uses it once in a while keeps it.
    let mut buffer = grown();
    for _ in 0..3 {
        assert_eq!(settle(&mut buffer, CALM - 1, 1), 80_000);
        assert_eq!(settle(&mut buffer, 1, 20_001), 80_000);
    }
    // What was noted before it was empty counts, once.
    buffer.note(30_000);
    buffer.note(5);
    assert_eq!(settle(&mut buffer, 1, 0), 80_000);
    assert_eq!(settle(&mut buffer, CALM - 1, 0), 80_000);
    assert_eq!(settle(&mut buffer, 1, 0), FLOOR);
}
