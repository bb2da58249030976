//! The panic handler on bare metal.
#![cfg_attr(all(target_os = "none", feature = "panic-hook"), allow(unsafe_code))]

/// Ends the program after a panic. Nothing returns to C, because the state of the machine is unknown.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(feature = "panic-hook")]
    {
        unsafe extern "C" {
            /// Defined by the firmware: resets the board, for example. The function must not return.
            fn mcp_panic() -> !;
        }
        // SAFETY: the header documents the signature of the function.
        unsafe { mcp_panic() }
    }
    #[cfg(not(feature = "panic-hook"))]
    loop {}
}
