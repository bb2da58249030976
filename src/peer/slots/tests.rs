//! Tests of the slot table.

use super::*;
use crate::framing::outbound_message::StreamId;
use crate::json::{Json, Writer};
use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

#[derive(Clone, Copy)]
struct Plain;

impl Data for Plain {}

impl Data for u8 {}

fn take(table: &mut InFlight<'_, Plain>, id: &str) -> Option<Ticket> {
    let ticket = table.take(Plain, None)?;
    assert!(table.set_id(ticket, id.as_bytes(), b"!"));
    Some(ticket)
}

fn find(table: &InFlight<'_, Plain>, id: &str) -> Option<Ticket> {
    table.find(Json::trusted(id.as_bytes()), StreamId::NONE)
}

#[test]
fn full_table_takes_no_request_until_a_release() {
    let (mut slots, mut text) = ([Slot::EMPTY; 3], [0; 30]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    assert_eq!((table.limit(), table.len()), (3, 0));
    let tickets: Vec<_> = ["1", "2", "3"].map(|id| take(&mut table, id).unwrap()).to_vec();
    assert!(take(&mut table, "4").is_none());
    table.release(tickets[1]);
    assert_eq!((table.len(), find(&table, "2")), (2, None));
    let again = take(&mut table, "4").unwrap();
    assert_ne!(again, tickets[1], "a reused slot has another ticket");
    assert!(table.get(tickets[1]).is_none() && table.get(again).is_some());
    assert_eq!(find(&table, "4"), Some(again));
}

#[test]
fn grown_table_reports_its_limit_from_the_start() {
    let mut table: InFlight<'_, u8> = InFlight::grown(9, 4);
    assert_eq!((table.limit(), table.len(), table.text_limit()), (9, 0, 4));
    for n in 0..9 {
        assert_eq!(
            (table.take(n, None).map(|ticket| ticket.slot), table.len()),
            (Some(n.into()), n as usize + 1)
        );
    }
    assert_eq!((table.limit(), table.take(9, None)), (9, None));
}

#[test]
fn slots_and_text_over_16_bits_are_not_used() {
    let (mut slots, mut text) = (std::vec![Slot::EMPTY; 65_600], std::vec![0; 70_000]);
    assert_eq!(InFlight::<Plain>::lent(&mut slots, &mut text).limit(), 65_535);
    assert_eq!(InFlight::<Plain>::lent(&mut slots[..1], &mut text).text_limit(), 65_535);
    assert_eq!(InFlight::<Plain>::grown(70_000, 0).limit(), 65_535);
}

#[test]
fn data_of_a_request_is_lost_at_its_release() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let (first, second) = (table.take(1u8, None).unwrap(), table.take(2, None).unwrap());
    *table.get_mut(second).unwrap() = 3;
    assert_eq!((table.get(first), table.get(second)), (Some(&1), Some(&3)));
    assert_eq!(
        (table.request_in_slot(0), table.request_in_slot(1), table.request_in_slot(2)),
        (Some((first, &1)), Some((second, &3)), None)
    );
    table.release(first);
    assert!(table.request_in_slot(0).is_none() && table.get_mut(first).is_none());
    table.take(4, None).unwrap();
    assert_eq!((table.get(first), table.len()), (None, 2));
    table.release(first);
    assert_eq!((table.get(second), table.len()), (Some(&3), 2), "a stale ticket releases nothing");
}

#[test]
fn clear_ends_all_requests() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let (named, queued) = (take(&mut table, "1").unwrap(), table.take(Plain, None).unwrap());
    table.set_deadline(named, Some(Millis(1)));
    table.enqueue(queued);
    table.clear();
    assert_eq!((table.len(), table.next_deadline(), table.queue_front()), (0, None, None));
    let (first, second) = (table.take(Plain, None).unwrap(), table.take(Plain, None).unwrap());
    assert!(table.get(named).is_none() && table.get(queued).is_none() && find(&table, "1").is_none());
    assert!(table.get(first).is_some() && table.get(second).is_some());
}

#[test]
fn stale_ticket_differs_from_one_never_issued() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let ticket = table.take(Plain, None).unwrap();
    let later = Ticket { generation: 1, ..ticket };
    let other = Ticket { slot: 1, ..ticket };
    assert!(table.has_issued(ticket) && !table.has_issued(later) && !table.has_issued(other));
    table.release(ticket);
    assert!(table.has_issued(ticket) && !table.has_issued(later));
    assert_eq!(table.take(Plain, None), Some(later));
    assert!(table.has_issued(ticket) && table.has_issued(later));
}

#[test]
fn first_from_skips_free_slots() {
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let tickets = [0; 4].map(|_| table.take(Plain, None).unwrap());
    table.release(tickets[0]);
    table.release(tickets[2]);
    let found = [0, 1, 2, 3, 4, 5].map(|from| table.first_from(from));
    let (one, three) = (Some(tickets[1]), Some(tickets[3]));
    assert_eq!(found, [one, one, three, three, None, None]);
}

#[test]
fn queue_returns_requests_in_order_of_arrival() {
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let tickets = [0; 4].map(|_| table.take(Plain, None).unwrap());
    for _ in 0..2 {
        assert_eq!(table.queue_front(), None);
        let order = [tickets[2], tickets[0], tickets[3], tickets[1]];
        order.iter().for_each(|ticket| table.enqueue(*ticket));
        for ticket in order {
            assert_eq!(table.queue_front(), Some(ticket));
            table.dequeue();
        }
    }
    table.dequeue();
    table.enqueue(tickets[1]);
    table.enqueue(tickets[0]);
    table.clear_queue();
    assert_eq!(table.queue_front(), None);
    table.enqueue(tickets[3]);
    assert_eq!(table.queue_front(), Some(tickets[3]));
}

#[test]
fn next_slot_and_deadline_ignore_earlier_order() {
    let next = |order: [usize; 5]| {
        let (mut slots, mut text) = ([Slot::EMPTY; 5], [0; 50]);
        let mut table = InFlight::lent(&mut slots, &mut text);
        let tickets = ["1", "2", "3", "4", "5"].map(|id| take(&mut table, id).unwrap());
        order.iter().for_each(|at| table.set_deadline(tickets[*at], Some(Millis(7))));
        let due = table.due(Millis(7)).unwrap().slot;
        order.iter().for_each(|at| table.release(tickets[*at]));
        (due, [0; 5].map(|_| table.take(Plain, None).unwrap().slot))
    };
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
        assert_eq!(next(order), (0, [0, 1, 2, 3, 4]), "{order:?}");
    }
}

/// The table takes the lowest free slot, whatever the order of earlier releases. Equal deadlines expire in an order
/// that does not depend on the releases.
#[test]
fn next_slot_and_deadline_ignore_earlier_releases() {
    let due = |table: &InFlight<'_, Plain>| table.due(Millis(9)).map(|ticket| ticket.slot);
    for mask in 1..32u32 {
        let (mut slots, mut text) = ([Slot::EMPTY; 5], [0; 50]);
        let mut table = InFlight::lent(&mut slots, &mut text);
        let tickets = [0; 5].map(|_| table.take(Plain, None).unwrap());
        let stay = tickets.iter().filter(|ticket| mask & 1 << ticket.slot == 0);
        stay.for_each(|ticket| table.set_deadline(*ticket, Some(Millis(7))));
        let expected = due(&table);
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1], [1, 0, 3, 2, 4]] {
            let (mut slots, mut text) = ([Slot::EMPTY; 5], [0; 50]);
            let mut table = InFlight::lent(&mut slots, &mut text);
            let mut tickets: Vec<_> = (0..5).map(|_| table.take(Plain, None).unwrap()).collect();
            tickets.iter().for_each(|ticket| table.set_deadline(*ticket, Some(Millis(7))));
            let gone: Vec<usize> = order.into_iter().filter(|at| mask & 1 << at != 0).collect();
            gone.iter().for_each(|at| table.release(tickets[*at]));
            assert_eq!(due(&table), expected, "{mask} {order:?}");
            let mut lowest = gone.clone();
            lowest.sort();
            for at in lowest {
                tickets[at] = table.take(Plain, None).unwrap();
                assert_eq!(tickets[at].slot as usize, at, "{mask} {order:?}");
            }
            assert!(table.take(Plain, None).is_none());
            gone.iter().for_each(|at| table.set_deadline(tickets[*at], Some(Millis(7))));
            assert_eq!(due(&table), Some(0), "{mask} {order:?}");
        }
    }
}

#[test]
fn maximum_time_is_a_valid_deadline() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 20]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let ticket = take(&mut table, "1").unwrap();
    assert_eq!((table.next_deadline(), table.due(Millis(u64::MAX))), (None, None));
    table.set_deadline(ticket, Some(Millis(u64::MAX)));
    assert_eq!((table.due(Millis(u64::MAX - 1)), table.due(Millis(u64::MAX))), (None, Some(ticket)));
    assert_eq!(table.next_deadline(), None, "no poll waits for it");
}

#[test]
fn slot_retires_after_its_last_generation() {
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 8]);
    slots[0].generation = u32::MAX - 1;
    let mut table = InFlight::lent(&mut slots, &mut text);
    let last = take(&mut table, "1").unwrap();
    assert_eq!(last.generation, u32::MAX - 1);
    table.release(last);
    assert!(take(&mut table, "2").is_none());
    table.clear();
    assert!(take(&mut table, "2").is_none(), "also after a reset");
}

#[test]
fn string_id_is_found_in_any_escaped_form() {
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 80]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let ticket = take(&mut table, r#""a\u00e9""#).unwrap();
    let number = take(&mut table, "7").unwrap();
    assert_eq!(find(&table, "\"\\u0061é\""), Some(ticket));
    assert_eq!(find(&table, "7"), Some(number));
    assert_eq!(find(&table, "\"7\""), None);
    assert_eq!(table.id(ticket), br#""a\u00e9""#, "stored as written");
}

#[test]
fn text_longer_than_its_share_is_refused() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 9]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    assert_eq!(table.text_limit(), 4);
    let ticket = table.take(Plain, None).unwrap();
    assert!(table.set_id(ticket, b"12", b"ab"));
    assert_eq!((table.id(ticket), table.text_after_id(ticket)), (&b"12"[..], &b"ab"[..]));
    assert_eq!(table.text(ticket), b"12ab");
    assert!(!table.set_text_after(ticket, 0, b"12abc"));
    assert!(!table.set_id(ticket, b"12", b"abc"));
    assert_eq!((table.id(ticket), table.text_after_id(ticket)), (&b"12"[..], &b"ab"[..]));
}

#[test]
fn set_text_after_replaces_the_rest_of_a_text() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let (ticket, other) = (table.take(Plain, None).unwrap(), table.take(Plain, None).unwrap());
    assert!(table.set_text_after(ticket, 0, b"a") && table.set_text_after(other, 0, b"wxyz"));
    assert!(table.set_text_after(ticket, 1, b"bcd"), "the whole share is usable");
    assert_eq!(table.text(ticket), b"abcd");
    assert!(!table.set_text_after(ticket, 2, b"cde"), "one byte too long");
    assert!(table.set_text_after(ticket, 1, b"x"), "the rest is dropped");
    assert_eq!(table.text(ticket), b"ax");
    assert!(!table.set_text_after(ticket, 3, b"d"), "the text is shorter than the kept length");
    assert_eq!((table.text(ticket), table.text(other)), (&b"ax"[..], &b"wxyz"[..]));
    assert!(table.set_text_after(ticket, 0, b""));
    assert_eq!(table.text(ticket), b"");
}

#[test]
fn write_text_stores_only_output_that_fits() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let (first, second) = (table.take(Plain, None).unwrap(), table.take(Plain, None).unwrap());
    assert!(table.set_text_after(first, 0, b"abcd"));
    assert!(!table.write_text(second, 0, &mut |out: &mut Writer<'_>| out.string("xyz")), "five bytes");
    assert_eq!(table.text(second), b"");
    assert!(table.write_text(second, 0, &mut |out: &mut Writer<'_>| out.string("xy")));
    assert_eq!((table.text(first), table.text(second)), (&b"abcd"[..], &b"\"xy\""[..]));
}

#[test]
fn ended_request_has_no_id_text_or_deadline() {
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 8]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let ended = take(&mut table, "1").unwrap();
    table.release(ended);
    assert_eq!((table.id(ended), table.text(ended)), (&b""[..], &b""[..]));
    let ticket = take(&mut table, "2").unwrap();
    assert!(!table.set_text_after(ended, 0, b"x"));
    assert!(
        !table.write_text(ended, 0, &mut |out: &mut Writer<'_>| out.string("x"))
            && !table.set_id(ended, b"3", b"")
    );
    table.set_deadline(ended, Some(Millis(1)));
    table.remove_id(ended);
    assert_eq!((table.id(ticket), table.text(ticket)), (&b"2"[..], &b"2!"[..]));
    assert_eq!((find(&table, "2"), table.next_deadline()), (Some(ticket), None));
}

#[test]
fn removed_id_becomes_text_and_is_not_found() {
    let (mut slots, mut text) = ([Slot::EMPTY; 3], [0; 12]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let tickets = ["1", "2", "3"].map(|id| take(&mut table, id).unwrap());
    table.remove_id(tickets[1]);
    assert_eq!(["1", "2", "3"].map(|id| find(&table, id)), [Some(tickets[0]), None, Some(tickets[2])]);
    assert_eq!((table.id(tickets[1]), table.text(tickets[1])), (&b""[..], &b"2"[..]));
    table.release(tickets[1]);
    let again = take(&mut table, "2");
    assert!(again.is_some() && find(&table, "2") == again);
}

#[test]
fn change_of_seed_keeps_all_ids() {
    let mut table: InFlight<'_, Plain> = InFlight::grown(20, 4);
    let tickets: Vec<_> = (0..20).map(|n| take(&mut table, &format!("{n}")).unwrap()).collect();
    table.remove_id(tickets[7]);
    for seed in [u64::MAX, 0x0123_4567_89ab_cdef, 1 << 32, 1, 0] {
        table.set_seed(seed);
        assert_eq!(table.seed(), seed);
        for (n, ticket) in tickets.iter().enumerate() {
            assert_eq!(find(&table, &format!("{n}")), (n != 7).then_some(*ticket), "{n} {seed}");
        }
    }
}

/// Compares random takes, releases and deadline changes with a model.
#[test]
fn random_operations_agree_with_a_map() {
    for (limit, grown) in [(1, false), (5, false), (40, false), (40, true)] {
        let (mut slots, mut text) = ([Slot::EMPTY; 40], [0; 800]);
        let mut table = if grown {
            InFlight::grown(limit, 20)
        } else {
            InFlight::lent(&mut slots[..limit], &mut text[..limit * 20])
        };
        table.set_seed(0x0123_4567_89ab_cdef);
        let mut model: BTreeMap<String, (Ticket, Option<u64>)> = BTreeMap::new();
        let mut random = 12345u64;
        let mut next = move |below: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        for _ in 0..4000 {
            let id = if next(2) == 0 { format!("{}", next(60)) } else { format!("\"{}\"", next(60)) };
            match (next(3), model.get(&id).copied()) {
                (0, None) => match take(&mut table, &id) {
                    Some(ticket) => {
                        let taken = |slot| model.values().any(|(ticket, _)| ticket.slot == slot);
                        assert_eq!(Some(ticket.slot), (0..limit as u32).find(|slot| !taken(*slot)));
                        model.insert(id, (ticket, None));
                    }
                    None => assert_eq!(model.len(), limit),
                },
                (1, Some((ticket, _))) => {
                    table.release(ticket);
                    assert!(table.get(ticket).is_none());
                    model.remove(&id);
                }
                (_, Some((ticket, _))) => {
                    let deadline = if next(4) == 0 { None } else { Some(next(1000)) };
                    table.set_deadline(ticket, deadline.map(Millis));
                    model.insert(id, (ticket, deadline));
                }
                (_, None) => assert_eq!(find(&table, &id), None),
            }
            for (id, (ticket, _)) in &model {
                assert_eq!(find(&table, id), Some(*ticket));
            }
            let earliest = model.values().filter_map(|(_, deadline)| *deadline).min();
            assert_eq!(table.next_deadline(), earliest.map(Millis));
            if let Some(earliest) = earliest {
                assert!(earliest == 0 || table.due(Millis(earliest - 1)).is_none());
                let due = table.due(Millis(earliest)).unwrap();
                assert!(model.values().any(|entry| *entry == (due, Some(earliest))));
            }
            assert_eq!(table.len(), model.len());
        }
    }
}

/// Compares the time per request with few and with many requests in flight.
#[test]
fn cost_of_a_request_does_not_grow_with_requests_in_flight() {
    let time = |count: u64| {
        let mut table: InFlight<'_, Plain> = InFlight::grown(count as usize, 20);
        table.set_seed(7);
        let start = std::time::Instant::now();
        for n in 0..count {
            let ticket = take(&mut table, &format!("{n}")).unwrap();
            // The worst order for the tree: each deadline is the earliest so far.
            table.set_deadline(ticket, Some(Millis(count - n)));
            assert_eq!(find(&table, &format!("{n}")), Some(ticket));
            assert!(find(&table, &format!("{}", n / 2)).is_some());
        }
        for n in 1..=count {
            assert_eq!(table.next_deadline(), Some(Millis(n)));
            let due = table.due(Millis(n)).unwrap();
            assert!(table.get(due).is_some());
            table.release(due);
        }
        start.elapsed().as_secs_f64()
    };
    // Both measurements run the same number of requests, so that other load slows down both.
    let few: f64 = (0..64).map(|_| time(500)).sum();
    let many = time(32_000);
    // With a linear search, `many` would be about 64 times `few`.
    assert!(many < few * 20.0, "{few} {many}");
}

#[test]
fn splice_text_equals_replace_range_of_a_string() {
    let (mut slots, mut bytes) = ([Slot::EMPTY; 2], [0; 24]);
    let mut table = InFlight::lent(&mut slots, &mut bytes);
    table.take(Plain, None).unwrap();
    let second = table.take(Plain, None).unwrap();
    let mut expected = String::new();
    for (from, to, piece) in
        [(0, 0, "abcdef"), (2, 4, "CDXY"), (0, 1, ""), (7, 7, "!"), (1, 3, "12345"), (0, 11, ""), (0, 0, "x")]
    {
        expected.replace_range(from..to, piece);
        assert!(table.splice_text(second, from..to, piece.as_bytes()), "{expected}");
        assert_eq!(table.text(second), expected.as_bytes());
    }
    for (from, to, piece) in [(0, 2, "a"), (2, 2, "a"), (0, 0, "twelve bytes")] {
        assert!(!table.splice_text(second, from..to, piece.as_bytes()), "{from} {to} {piece}");
        assert_eq!(table.text(second), b"x");
    }
}
