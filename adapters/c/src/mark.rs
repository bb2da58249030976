//! Detection of session marks: `mcp_mark_…`.
#![allow(unsafe_code)]

/// The session mark, without the zero byte of `MCP_SESSION_MARK`.
const MARK: &[u8] = b"\n\x04\x04\x04\x04\n";

/// The state of the search for session marks in received bytes. Initialize all fields with zero.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mcp_mark_t {
    /// Private: the number of bytes of an incomplete mark.
    pub matched: u8,
}

/// Returns whether a received byte completes a session mark. Pass each byte of the line, in order.
///
/// A mark starts a new session: drop all bytes received so far, including this byte, and call `mcp_server_reset` or
/// `mcp_client_reset`. `mcp-serial-bridge` sends marks by default. The pumps of `mcp-proto-embedded` send a mark when
/// they start, if session marks are enabled.
///
/// # Safety
/// `mark` points to a `mcp_mark_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_mark_push(mark: *mut mcp_mark_t, byte: u8) -> bool {
    // SAFETY: the caller promises NULL or a valid pointer, which nothing else uses during the call.
    let Some(mark) = (unsafe { mark.as_mut() }) else { return false };
    let is_next = MARK.get(usize::from(mark.matched)) == Some(&byte);
    mark.matched = if is_next { mark.matched.wrapping_add(1) } else { u8::from(byte == b'\n') };
    let is_complete = usize::from(mark.matched) == MARK.len();
    if is_complete {
        // The newline at the end may begin the next mark.
        mark.matched = 1;
    }
    is_complete
}

#[cfg(test)]
mod tests {
    #![allow(clippy::undocumented_unsafe_blocks)]

    use super::*;

    #[test]
    fn mark_is_found_anywhere_and_noise_is_not() {
        for (input, expected) in [
            ("\n\x04\x04\x04\x04\n", vec![5]),
            ("{\"a\n\x04\x04\x04\x04\n\x04\x04\x04\x04\n{}", vec![8, 13]),
            ("\n\n\x04\x04\n\x04\x04\x04\x04\n", vec![9]),
            ("\x04\x04\x04\x04\n", vec![]),
            ("\n\x04\x04\x04\x04\x04\n", vec![]),
            ("\n\x04\x04\x04\n", vec![]),
        ] {
            let mut mark = mcp_mark_t { matched: 0 };
            let ends =
                input.bytes().enumerate().filter(|(_, byte)| unsafe { mcp_mark_push(&mut mark, *byte) });
            assert_eq!(ends.map(|(at, _)| at).collect::<Vec<_>>(), expected, "{input:?}");
        }
        assert!(!unsafe { mcp_mark_push(core::ptr::null_mut(), b'\n') });
    }
}
