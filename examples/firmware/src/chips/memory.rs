//! Smaller replacements for the compiler's memory functions. The compiler's functions are optimized for speed.
//!
//! The compiler calls these functions to move values and to clear tables. Most values and tables have a few words. For
//! the bytes of messages, `mcp-proto` has its own copy function.

// SAFETY: each function has the name, the arguments and the effect of the run-time ABI for Arm, section 4.3.4: r0 is
// the destination, r1 the source or the length, r2 the length. The functions change only r1 to r3, which the
// caller saves, and leave r0 unchanged.
core::arch::global_asm!(
    ".macro memory_function name",
    ".global \\name",
    ".type \\name, %function",
    "\\name:",
    ".endm",
    ".section .text.memory.copy, \"ax\", %progbits",
    ".p2align 1",
    "memory_function memcpy",
    "memory_function __aeabi_memcpy",
    "memory_function __aeabi_memcpy4",
    "memory_function __aeabi_memcpy8",
    // Copies words if both addresses and the length are multiples of four.
    "movs r3, r0",
    "orrs r3, r1",
    "orrs r3, r2",
    "lsls r3, r3, #30",
    "bne 2f",
    "1: subs r2, #4",
    "bcc 3f",
    "ldr r3, [r1, r2]",
    "str r3, [r0, r2]",
    "b 1b",
    "2: subs r2, #1",
    "bcc 3f",
    "ldrb r3, [r1, r2]",
    "strb r3, [r0, r2]",
    "b 2b",
    "3: bx lr",
    ".section .text.memory.clear, \"ax\", %progbits",
    ".p2align 1",
    "memory_function __aeabi_memclr",
    "memory_function __aeabi_memclr4",
    "memory_function __aeabi_memclr8",
    "movs r2, #0",
    "movs r3, r0",
    "orrs r3, r1",
    "lsls r3, r3, #30",
    "bne 2f",
    "1: subs r1, #4",
    "bcc 3f",
    "str r2, [r0, r1]",
    "b 1b",
    "2: subs r1, #1",
    "bcc 3f",
    "strb r2, [r0, r1]",
    "b 2b",
    "3: bx lr",
);
