//! Tests of the framing of bodies: chunks, lengths, the end of the connection.

use super::{BodyDecoder, BodyFraming, cut_everywhere, decode_body};
use mcp_proto_http::http1::{ChunkHead, HttpError, LAST_CHUNK};

/// Decodes a chunked body, with [`cut_everywhere`].
fn chunked(input: &[u8]) -> Result<(Vec<u8>, usize, bool), HttpError> {
    cut_everywhere(input, |pieces| decode_body(BodyFraming::Chunked, pieces))
}

#[test]
fn chunks_are_joined() {
    for (input, data) in [
        ("0\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("2\r\nhe\r\n00000003\r\nllo\r\n0\r\n\r\n", "hello"),
        ("a\r\n0123456789\r\nB\r\n01234567890\r\n00\r\n\r\n", "012345678901234567890"),
        ("2;x\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
        ("2;name=\"va;lue\";b \r\nab\r\n0;last\r\n\r\n", "ab"),
        ("2 ;x\r\nab\r\n0 \t ; y\r\n\r\n", "ab"),
        ("1\r\nx\r\n0\r\nExpires: now\r\nX-Sum:\t1 \r\n\r\n", "x"),
    ] {
        let with_rest = format!("{input}POST / HTTP/1.1");
        let expected = (data.as_bytes().to_vec(), input.len(), true);
        assert_eq!(chunked(with_rest.as_bytes()), Ok(expected), "{input:?}");
        for length in 0..input.len() {
            let (_, consumed, is_complete) = chunked(&input.as_bytes()[..length]).unwrap();
            assert_eq!((consumed, is_complete), (length, false), "{input:?} {length}");
        }
    }
}

#[test]
fn invalid_chunks_are_rejected() {
    for (text, input) in [
        ("body: invalid chunk size", "\r\n"),
        ("body: invalid chunk size", ";x\r\n"),
        ("body: invalid chunk size", " 5\r\n"),
        ("body: invalid chunk size", "-5\r\n"),
        ("body: invalid chunk size", "+5\r\n"),
        ("body: invalid chunk size", "0x5\r\n"),
        ("body: invalid chunk size", "5\nhello"),
        ("body: invalid chunk size", "5 \r\nhello"),
        ("body: invalid chunk size", "5 5\r\nhello"),
        ("body: invalid chunk size", "5_\r\n"),
        ("body: invalid chunk size", "5\0\r\n"),
        ("body: the chunk size is too large", "00000000000000005\r\n"),
        ("body: the chunk size is too large", "10000000000000000\r\n"),
        ("body: CR without LF", "5\rhello"),
        ("body: CR without LF", "5\r\r\nhello"),
        ("body: CR without LF", "5\r\nhello\r0\r\n\r\n"),
        ("body: a chunk is longer than its size", "5\r\nhello!\r\n"),
        ("body: a chunk is longer than its size", "5\r\nhello\n0\r\n\r\n"),
        ("body: invalid byte in a chunk extension", "5;x\nhello"),
        ("body: invalid byte in a chunk extension", "5;\0\r\nhello"),
        ("body: CR without LF", "5;x\rhello"),
        ("trailer field: LF without CR", "0\r\n\n"),
        ("trailer field: CR without LF", "0\r\n\rX"),
        ("trailer field: line folding is obsolete", "0\r\n x\r\n\r\n"),
        ("trailer field: white space before the colon", "0\r\nX : y\r\n\r\n"),
        ("trailer field: line without a colon", "0\r\nGET / HTTP\r\n\r\n"),
    ] {
        let input = input.replace("GET / HTTP", "GET");
        let error = chunked(input.as_bytes()).unwrap_err();
        assert_eq!((error.status(), error.to_string().as_str()), (400, text), "{input:?}");
    }
}

#[test]
fn largest_chunk_size_is_decoded() {
    let (data, _, is_complete) = chunked(b"FFFFFFFFFFFFFFFF\r\nabc").unwrap();
    assert_eq!((data.as_slice(), is_complete), (&b"abc"[..], false));
}

#[test]
fn extensions_and_trailers_are_limited() {
    let long = "x".repeat(4096);
    for (input, is_accepted) in [
        (format!("1;{long}\r\na\r\n"), true),
        (format!("1;{long}x\r\na\r\n"), false),
        (format!("1;{long}\r\na\r\n1;x\r\na\r\n"), true),
        (format!("1;{long}\r\na\r\n1;xx\r\na\r\n"), false),
        (format!("1{long}\r\na\r\n"), false),
        (format!("1{}\r\na\r\n", " ".repeat(5000)), false),
        (format!("0\r\nX: {}\r\n\r\n", &long[..4090]), true),
        (format!("0\r\nX: {long}\r\n\r\n"), false),
        (format!("0\r\n{}\r\n", "X:\r\n".repeat(1025)), false),
    ] {
        let decode = |size| decode_body(BodyFraming::Chunked, input.as_bytes().chunks(size));
        assert_eq!(decode(input.len()).is_ok(), is_accepted, "{}", &input[..20]);
        assert_eq!(decode(1), decode(input.len()));
    }
    // A long stream may have an extension in each chunk.
    let stream = format!("40;sum=0123456789\r\n{}\r\n", "a".repeat(64)).repeat(10_000);
    assert!(decode_body(BodyFraming::Chunked, [stream.as_bytes()]).is_ok());
}

#[test]
fn length_ends_the_body() {
    for (length, data) in [(0, ""), (1, "a"), (5, "abcde"), (6, "abcdef")] {
        let whole =
            cut_everywhere(b"abcdef", |pieces| decode_body(BodyFraming::Length(length), pieces)).unwrap();
        assert_eq!(whole, (data.as_bytes().to_vec(), data.len(), true));
    }
    let incomplete = decode_body(BodyFraming::Length(7), [&b"abcdef"[..]]).unwrap();
    assert_eq!(incomplete, (b"abcdef".to_vec(), 6, false));
}

#[test]
fn close_ends_only_a_body_without_length() {
    for (framing, input, is_complete) in [
        (BodyFraming::UntilClose, "", true),
        (BodyFraming::UntilClose, "abc", true),
        (BodyFraming::Length(3), "abc", true),
        (BodyFraming::Length(3), "ab", false),
        (BodyFraming::Chunked, "1\r\na\r\n0\r\n\r\n", true),
        (BodyFraming::Chunked, "1\r\na\r\n0\r\n", false),
        (BodyFraming::Chunked, "1\r\na\r\n", false),
        (BodyFraming::Chunked, "", false),
    ] {
        let mut decoder = BodyDecoder::new(framing);
        let mut rest = input.as_bytes();
        while !rest.is_empty() && !decoder.is_complete() {
            rest = &rest[decoder.decode(rest).unwrap().consumed..];
        }
        assert_eq!(decoder.eof().is_ok(), is_complete, "{framing:?} {input:?}");
        assert_eq!(decoder.is_complete(), is_complete);
        assert_eq!(decoder.eof().is_ok(), is_complete, "the second call");
    }
}

#[test]
fn written_chunks_are_decoded() {
    let long = vec![b'x'; 70_000];
    let mut body = Vec::new();
    for data in [&b"a"[..], b"\r\n", &[0; 300], &long] {
        let head = ChunkHead::new(data.len()).unwrap();
        body.extend_from_slice(&[head.as_bytes(), data, ChunkHead::END].concat());
    }
    body.extend_from_slice(LAST_CHUNK);
    let (data, consumed, is_complete) = decode_body(BodyFraming::Chunked, [&body[..]]).unwrap();
    assert_eq!((data.len(), consumed, is_complete), (70_303, body.len(), true));
}

#[test]
fn head_of_a_chunk_has_eight_digits() {
    assert_eq!(ChunkHead::new(4).unwrap().as_bytes(), b"00000004\r\n");
    assert_eq!(ChunkHead::new(0xABCDEF).unwrap().as_bytes(), b"00ABCDEF\r\n");
    assert_eq!(ChunkHead::new(0), None, "an empty chunk would end the body");
    assert_eq!(ChunkHead::new(usize::MAX), None);
}
