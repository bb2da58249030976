//! Tests of the byte queue between an interrupt and the main loop.

use crate::common::{App, INITIALIZE, MARK, WELCOME, ping, pong, with_server};
use embedded_io::{Read, ReadReady, Write, WriteReady};
use mcp_proto_embedded::{BytesLost, Halves, Pump, PumpStatus, Queue, SESSION_MARK};

fn read<const N: usize>(mut queue: &Queue<N>) -> Option<Result<Vec<u8>, BytesLost>> {
    let mut space = [0; 100];
    queue.read_ready().unwrap().then(|| queue.read(&mut space).map(|n| space[..n].to_vec()))
}

#[test]
fn bytes_come_out_in_order_after_many_wraps() {
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
fn lost_bytes_are_reported_at_their_position() {
    let queue = Queue::<4>::new();
    assert_eq!(queue.push_slice(b"abcdef"), 4);
    assert_eq!(read(&queue), Some(Ok(b"abcd".to_vec())));
    assert!(queue.push(b'g'));
    assert_eq!(read(&queue), Some(Err(BytesLost)));
    assert_eq!(read(&queue), Some(Ok(b"g".to_vec())));
    assert_eq!(read(&queue), None);

    // The hardware loses bytes at two positions.
    assert!(queue.push(b'a'));
    queue.lost();
    assert!(queue.push(b'b'));
    queue.lost();
    assert_eq!(read(&queue), Some(Ok(b"a".to_vec())));
    // The queue contains two gaps, so it loses all pushed bytes until a read reports the first gap.
    assert!(!queue.push(b'c'));
    assert_eq!(read(&queue), Some(Err(BytesLost)));
    assert!(queue.push(b'd'));
    assert_eq!(read(&queue), Some(Ok(b"b".to_vec())));
    assert_eq!(read(&queue), Some(Err(BytesLost)));
    assert_eq!(read(&queue), Some(Ok(b"d".to_vec())));
    assert_eq!(read(&queue), None);
}

#[test]
fn gap_at_the_end_is_reported_without_another_byte() {
    let queue = Queue::<4>::new();
    queue.lost();
    assert_eq!((read(&queue), read(&queue)), (Some(Err(BytesLost)), None));
    assert_eq!(queue.push_slice(b"abcde"), 4);
    assert_eq!((read(&queue), read(&queue)), (Some(Ok(b"abcd".to_vec())), Some(Err(BytesLost))));
}

#[test]
fn pop_skips_gaps() {
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
fn write_takes_as_many_bytes_as_fit() {
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

#[test]
fn queue_with_two_gaps_is_not_ready_for_a_write() {
    let mut queue = &Queue::<8>::new();
    for byte in b"ab" {
        assert!(queue.push(*byte));
        queue.lost();
    }
    assert_eq!(queue.write_ready(), Ok(false));
    assert_eq!(queue.pop(), Some(b'a'));
    assert_eq!(queue.write_ready(), Ok(false));
    assert_eq!(queue.pop(), Some(b'b'));
    assert_eq!((queue.write_ready(), queue.write(b"c")), (Ok(true), Ok(1)));
    assert_eq!(queue.pop(), Some(b'c'));
}

/// The writing thread yields every 64 bytes, the reading thread whenever the queue is empty.
#[test]
fn each_byte_between_threads_is_received_or_reported_lost() {
    for drops_bytes in [false, true] {
        let queue = Queue::<16>::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut lost = 0;
                for byte in 0..50_000u32 {
                    // Consecutive numbers modulo 251, so that a gap of fewer than 251 bytes is always detected.
                    while !queue.push((byte % 251) as u8) {
                        if drops_bytes {
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
                            assert!(byte == next || gap, "received {byte}, expected {next}");
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

/// The reading thread clears gaps while the other thread puts in the digits.
#[test]
fn push_all_puts_in_all_bytes_or_none() {
    const DIGITS: &[u8] = b"0123456789";
    let queue = Queue::<64>::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..50_000 {
                queue.push(b'a');
                queue.lost();
                queue.push(b'b');
                queue.lost();
                queue.push_all(DIGITS);
            }
        });
        let mut next = 0;
        loop {
            let over = writer.is_finished();
            match read(&queue) {
                Some(Ok(bytes)) => {
                    for byte in bytes {
                        let is_digit = byte.is_ascii_digit();
                        assert_eq!(
                            is_digit.then_some(&byte),
                            DIGITS.get(next).filter(|_| next > 0 || is_digit)
                        );
                        next = if is_digit { (next + 1) % DIGITS.len() } else { 0 };
                    }
                }
                Some(Err(BytesLost)) => assert_eq!(next, 0, "a gap between digits"),
                None if over => break,
                None => {}
            }
        }
    });
}

#[test]
fn overrun_breaks_one_line_and_break_starts_a_session() {
    static RECEIVED: Queue<128> = Queue::new();
    static TO_SEND: Queue<64> = Queue::new();
    with_server(512, 1024, |server| {
        let mut pump = Pump::new().session_marks();
        let (mut app, mut sent) = (App::default(), Vec::new());
        let mut uart = Halves(&RECEIVED, &TO_SEND);
        // Interrupts receive and send bytes between the steps. The second ping overruns the queue.
        let mut run = |bytes: &[u8], at_once: usize, app: &mut App| {
            for piece in bytes.chunks(at_once) {
                RECEIVED.push_slice(piece);
                for _ in 0..20 {
                    app.handle(pump.step(server, &mut uart, app.now()), server);
                    sent.extend(std::iter::from_fn(|| TO_SEND.pop()));
                }
            }
        };
        run(INITIALIZE.as_bytes(), 50, &mut app);
        run(ping(1).as_bytes(), 10, &mut app);
        let long = ping(2).replace("ping\"", &format!("ping\",\"params\":{{\"x\":\"{}\"}}", "x".repeat(100)));
        run(long.as_bytes(), 1000, &mut app);
        run(b"\n", 1, &mut app);
        run(ping(3).as_bytes(), 10, &mut app);
        // The old client leaves in the middle of a line, and the interrupt detects a break.
        run(&ping(4).as_bytes()[..20], 10, &mut app);
        run(SESSION_MARK, 1, &mut app);
        run(INITIALIZE.as_bytes(), 50, &mut app);
        let broken = PumpStatus::LineBroken(embedded_io::ErrorKind::Other);
        assert_eq!(app.steps, [broken, PumpStatus::NewSession]);
        // One error for the line with lost bytes, and one for the partial line, which the line break of the mark ends.
        assert_eq!(app.faults.len(), 2);
        let sent = String::from_utf8(sent).unwrap();
        let refused = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32700,"#;
        assert!(sent.starts_with(&[MARK, WELCOME, &pong(1), refused].concat()), "{sent}");
        assert!(sent.contains(&pong(3)) && sent.ends_with(WELCOME), "{sent}");
    });
}
