use super::*;
use crate::json::Json;
use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

#[derive(Clone, Copy)]
struct Plain;

impl Data for Plain {
    const EMPTY: Plain = Plain;
}

fn take(table: &mut InFlight<'_, Plain>, id: &str) -> Option<Ticket> {
    let ticket = table.take(Plain)?;
    assert!(table.set_id(ticket, id.as_bytes(), b"!"));
    Some(ticket)
}

fn find(table: &InFlight<'_, Plain>, id: &str) -> Option<Ticket> {
    table.find(Json::trusted(id.as_bytes()))
}

#[test]
fn a_table_takes_as_many_as_it_has_slots() {
    let (mut slots, mut text) = ([Slot::EMPTY; 3], [0; 30]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let tickets: Vec<_> = ["1", "2", "3"].map(|id| take(&mut table, id).unwrap()).to_vec();
    assert!(take(&mut table, "4").is_none());
    table.release(tickets[1]);
    assert_eq!((table.len(), find(&table, "2")), (2, None));
    let again = take(&mut table, "4").unwrap();
    assert_ne!(again, tickets[1], "an old ticket is never the new one");
    assert!(table.get(tickets[1]).is_none() && table.get(again).is_some());
    assert_eq!(find(&table, "4"), Some(again));
}

#[test]
fn what_is_next_does_not_depend_on_the_order_before() {
    let next = |order: [usize; 5]| {
        let (mut slots, mut text) = ([Slot::EMPTY; 5], [0; 50]);
        let mut table = InFlight::lent(&mut slots, &mut text);
        let tickets = ["1", "2", "3", "4", "5"].map(|id| take(&mut table, id).unwrap());
        order.iter().for_each(|at| table.set_deadline(tickets[*at], Some(Millis(7))));
        let due = table.due(Millis(7)).unwrap().slot;
        order.iter().for_each(|at| table.release(tickets[*at]));
        (due, [0; 5].map(|_| table.take(Plain).unwrap().slot))
    };
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
        assert_eq!(next(order), (0, [0, 1, 2, 3, 4]), "{order:?}");
    }
}

#[test]
fn the_end_of_time_is_a_deadline() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 20]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let ticket = take(&mut table, "1").unwrap();
    assert_eq!((table.next_deadline(), table.due(Millis(u64::MAX))), (None, None));
    table.set_deadline(ticket, Some(Millis(u64::MAX)));
    assert_eq!((table.due(Millis(u64::MAX - 1)), table.due(Millis(u64::MAX))), (None, Some(ticket)));
    assert_eq!(table.next_deadline(), Some(Millis(u64::MAX)));
}

#[test]
fn a_slot_retires_when_its_tickets_are_used_up() {
    let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 8]);
    slots[0].generation = u32::MAX - 1;
    let mut table = InFlight::lent(&mut slots, &mut text);
    let last = take(&mut table, "1").unwrap();
    assert_eq!(last.generation, u32::MAX - 1);
    table.release(last);
    assert!(take(&mut table, "2").is_none());
    table.clear();
    assert!(take(&mut table, "2").is_none(), "not even after a reset");
}

#[test]
fn strings_are_found_however_they_are_escaped() {
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 80]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    let ticket = take(&mut table, r#""a\u00e9""#).unwrap();
    let number = take(&mut table, "7").unwrap();
    assert_eq!(find(&table, "\"\\u0061é\""), Some(ticket));
    assert_eq!(find(&table, "7"), Some(number));
    assert_eq!(find(&table, "\"7\""), None);
    assert_eq!(table.id(ticket), br#""a\u00e9""#, "kept as it was written");
}

#[test]
fn text_over_the_part_of_a_slot_is_refused() {
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 9]);
    let mut table = InFlight::lent(&mut slots, &mut text);
    assert_eq!(table.text_limit(), 4);
    let ticket = table.take(Plain).unwrap();
    assert!(table.set_id(ticket, b"12", b"ab"));
    assert_eq!((table.id(ticket), table.behind_id(ticket)), (&b"12"[..], &b"ab"[..]));
    assert_eq!(table.text(ticket), b"12ab");
    assert!(!table.set_text(ticket, [b"12", b"abc"]));
}

/// Random requests that start, end and move their deadlines, beside a model with a map.
#[test]
fn ids_and_deadlines_agree_with_a_map() {
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

/// The same hash as its authors' code: first values of their test vectors would need HalfSipHash-2-4; what matters
/// here is that the key decides.
#[test]
fn the_seed_decides_where_ids_fall() {
    let of = |seed, text: &str| {
        let mut hasher = hash::Hasher::new(seed);
        hasher.add(text.as_bytes());
        hasher.finish()
    };
    assert_eq!(of(1, "id-1"), of(1, "id-1"));
    let moved = (0..100u32).filter(|n| of(1, &format!("{n}")) % 16 != of(2, &format!("{n}")) % 16).count();
    assert!(moved > 70, "{moved}");
    let mut buckets = [0; 16];
    (0..1600u32).for_each(|n| buckets[(of(7, &format!("{n}")) % 16) as usize] += 1);
    assert!(buckets.iter().all(|count| (60..=140).contains(count)), "{buckets:?}");
}

/// Who knows the seed can choose ids that all fall into one chain, and does nothing to a server with another one.
#[test]
fn ids_that_collide_under_one_seed_are_spread_by_another() {
    let chain = |seed, id: u32| {
        let mut hasher = hash::Hasher::new(seed);
        hasher.add(format!("{id}").as_bytes());
        (u64::from(hasher.finish()) * 64) >> 32
    };
    let chosen: Vec<u32> = (0..).filter(|id| chain(1, *id) == 5).take(640).collect();
    let mut chains = [0; 64];
    chosen.iter().for_each(|id| chains[chain(2, *id) as usize] += 1);
    assert!(chains.iter().all(|length| *length < 30), "{chains:?}");
}

/// Taking, finding, timing and releasing, with ever more requests in flight.
#[test]
fn a_request_costs_about_the_same_however_many_are_in_flight() {
    let time = |count: u64| {
        let mut table: InFlight<'_, Plain> = InFlight::grown(count as usize, 20);
        table.set_seed(7);
        let start = std::time::Instant::now();
        for n in 0..count {
            let ticket = take(&mut table, &format!("{n}")).unwrap();
            // The worst order for a heap: each deadline is the earliest of all.
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
    // The best of several, because the machine has other things to do.
    let best = |count| (0..3).map(|_| time(count)).fold(f64::INFINITY, f64::min);
    time(100);
    // 32 times the requests; to look at each of the others would be 1024 times the work.
    let (few, many) = (best(500), best(16_000));
    assert!(many < few * 300.0, "{few} {many}");
}
