//! The panic handler on bare metal.
#![cfg_attr(all(target_os = "none", feature = "panic-hook"), allow(unsafe_code))]

/// Stops the program after a panic. The handler cannot return to C, because the state of the machine is unknown.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(feature = "panic-hook")]
    {
        unsafe extern "C" {
            /// Stops the program in the way that the firmware defines. For example, resets the board. Does not return.
            fn mcp_panic() -> !;
        }
        // SAFETY: the firmware defines the function with this signature.
        unsafe { mcp_panic() }
    }
    #[cfg(not(feature = "panic-hook"))]
    loop {}
}
