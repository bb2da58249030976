//! The queue between an interrupt and the main loop.

use crate::common::{Host, INITIALIZE, WELCOME, ping, pong, with_server};
use embedded_io::{Read, ReadReady, Write, WriteReady};
use mcp_proto_embedded::{BytesLost, Halves, Pump, PumpStatus, Queue, SESSION_MARK};

fn read<const N: usize>(mut queue: &Queue<N>) -> Option<Result<Vec<u8>, BytesLost>> {
    let mut space = [0; 100];
    queue.read_ready().unwrap().then(|| queue.read(&mut space).map(|n| space[..n].to_vec()))
}

#[test]
fn what_goes_in_comes_out_however_often_it_goes_round() {
    let queue = Queue::<8>::new();
    let (mut put, mut got) = (0u32, Vec::new());
    for round in 0..1000u32 {
        for _ in 0..round % 9 {
            assert!(queue.push(put as u8));
            put += 1;
        }
        assert_eq!(queue.len(), (round % 9) as usize);
        assert_eq!(queue.free() + queue.len(), 8);
        got.extend(read(&queue).unwrap_or(Ok(Vec::new())).unwrap());
        assert!(queue.is_empty() && read(&queue).is_none());
    }
    assert!(got.iter().enumerate().all(|(at, byte)| at as u8 == *byte));
    assert_eq!(got.len(), put as usize);
}

#[test]
fn what_is_lost_is_told_where_it_is_missing() {
    let queue = Queue::<4>::new();
    assert_eq!(queue.push_slice(b"abcdef"), 4);
    assert_eq!(read(&queue), Some(Ok(b"abcd".to_vec())));
    assert!(queue.push(b'g'));
    assert_eq!(read(&queue), Some(Err(BytesLost)));
    assert_eq!(read(&queue), Some(Ok(b"g".to_vec())));
    assert_eq!(read(&queue), None);

    // The hardware has lost something between two bytes, twice.
    assert!(queue.push(b'a'));
    queue.lost();
    assert!(queue.push(b'b'));
    queue.lost();
    assert_eq!(read(&queue), Some(Ok(b"a".to_vec())));
    // The second place can only be kept when the first one was heard of. Until then everything is lost.
    assert!(!queue.push(b'c'));
    assert_eq!(read(&queue), Some(Err(BytesLost)));
    assert!(queue.push(b'd'));
    assert_eq!(read(&queue), Some(Ok(b"b".to_vec())));
    assert_eq!(read(&queue), Some(Err(BytesLost)));
    assert_eq!(read(&queue), Some(Ok(b"d".to_vec())));
    assert_eq!(read(&queue), None);
}

#[test]
fn a_gap_at_the_end_is_told_without_another_byte() {
    let queue = Queue::<4>::new();
    queue.lost();
    assert_eq!((read(&queue), read(&queue)), (Some(Err(BytesLost)), None));
    assert_eq!(queue.push_slice(b"abcde"), 4);
    assert_eq!((read(&queue), read(&queue)), (Some(Ok(b"abcd".to_vec())), Some(Err(BytesLost))));
}

#[test]
fn an_interrupt_that_sends_passes_over_gaps() {
    let queue = Queue::<4>::new();
    queue.lost();
    queue.push(b'a');
    assert_eq!((queue.pop(), queue.pop()), (Some(b'a'), None));
    queue.push_slice(b"bcdef");
    let sent: Vec<u8> = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(sent, b"bcde");
    assert!(queue.push(b'g') && queue.pop() == Some(b'g') && queue.pop().is_none());
}

#[test]
fn writing_takes_what_finds_room_and_loses_nothing() {
    let queue = Queue::<8>::new();
    let mut writer = &queue;
    assert_eq!(writer.write(b"0123456789"), Ok(8));
    assert_eq!(writer.write_ready(), Ok(false));
    assert_eq!((queue.pop(), queue.pop()), (Some(b'0'), Some(b'1')));
    assert_eq!(writer.write_ready(), Ok(true));
    assert_eq!(writer.write(b"89"), Ok(2));
    assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), b"23456789");
    assert_eq!(writer.flush(), Ok(()));
}

/// A queue between two threads, the one as fast as it can, the other now and then.
#[test]
fn between_two_threads_each_byte_comes_once_or_is_told_to_be_lost() {
    for hurry in [false, true] {
        let queue = Queue::<16>::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut lost = 0;
                for byte in 0..50_000u32 {
                    // Numbers below 250, so that a gap of any length up to that can be told.
                    while !queue.push((byte % 251) as u8) {
                        if hurry {
                            lost += 1;
                            break;
                        }
                        std::hint::spin_loop();
                    }
                    if byte % 64 == 0 {
                        std::thread::yield_now();
                    }
                }
                lost
            });
            let (mut next, mut gaps, mut got) = (0, 0, 0);
            let mut gap = false;
            loop {
                let over = writer.is_finished();
                match read(&queue) {
                    Some(Ok(bytes)) => {
                        for byte in bytes {
                            assert!(byte == next || gap, "{byte} came where {next} was to come");
                            gap = false;
                            next = ((u32::from(byte) + 1) % 251) as u8;
                            got += 1;
                        }
                    }
                    Some(Err(BytesLost)) => (gap, gaps) = (true, gaps + 1),
                    None if over => break,
                    None => std::thread::yield_now(),
                }
            }
            let lost = writer.join().unwrap();
            assert_eq!(got + lost, 50_000, "gaps: {gaps}");
        });
    }
}

#[test]
fn an_overrun_costs_one_line_and_a_break_is_a_mark() {
    static RECEIVED: Queue<128> = Queue::new();
    static TO_SEND: Queue<64> = Queue::new();
    with_server(512, 1024, |server| {
        let mut pump = Pump::new().session_mark(SESSION_MARK);
        let (mut host, mut sent) = (Host::default(), Vec::new());
        let mut uart = Halves(&RECEIVED, &TO_SEND);
        // Bytes arrive and leave in interrupts between the steps; the second ping overruns the queue.
        let mut run = |bytes: &[u8], at_once: usize, host: &mut Host| {
            for piece in bytes.chunks(at_once) {
                RECEIVED.push_slice(piece);
                for _ in 0..20 {
                    host.hear(pump.step(server, &mut uart, host.now()), server);
                    sent.extend(std::iter::from_fn(|| TO_SEND.pop()));
                }
            }
        };
        run(INITIALIZE.as_bytes(), 50, &mut host);
        run(ping(1).as_bytes(), 10, &mut host);
        let long = ping(2).replace("ping\"", &format!("ping\",\"params\":{{\"x\":\"{}\"}}", "x".repeat(100)));
        run(long.as_bytes(), 1000, &mut host);
        run(b"\n", 1, &mut host);
        run(ping(3).as_bytes(), 10, &mut host);
        // The old client is gone in the middle of a line, and the interrupt has seen a break.
        run(&ping(4).as_bytes()[..20], 10, &mut host);
        run(&[SESSION_MARK], 1, &mut host);
        run(INITIALIZE.as_bytes(), 50, &mut host);
        let broken = PumpStatus::LineBroken(embedded_io::ErrorKind::Other);
        assert_eq!(host.steps, [broken, PumpStatus::NewSession]);
        assert_eq!(host.faults.len(), 1);
        let sent = String::from_utf8(sent).unwrap();
        let refused = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32700,"#;
        assert!(sent.starts_with(&[WELCOME, &pong(1), refused].concat()), "{sent}");
        assert!(sent.ends_with(&[pong(3).as_str(), WELCOME].concat()), "{sent}");
    });
}
