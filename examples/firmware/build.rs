//! Tells the linker about the board of each image.
use std::env::var;

/// Which image is for which board. `boards` has the memory of each.
const IMAGES: &[(&str, &str)] = &[
    ("blinky", "lm3s6965"),
    ("embassy", "lm3s6965"),
    ("everything", "lm3s6965"),
    ("lm3s6965", "lm3s6965"),
    ("microbit", "microbit"),
    ("virt", "virt"),
];

fn main() {
    println!("cargo::rerun-if-changed=boards");
    // On the PC there is nothing but the logic and its tests.
    if var("CARGO_CFG_TARGET_OS").unwrap() != "none" {
        return;
    }
    let here = var("CARGO_MANIFEST_DIR").unwrap();
    for (image, board) in IMAGES {
        println!("cargo::rustc-link-arg-bin={image}=-L{here}/boards/{board}");
        // The script of cortex-m-rt asks for this one by itself, that of riscv-rt does not.
        if var("CARGO_CFG_TARGET_ARCH").unwrap() != "arm" {
            println!("cargo::rustc-link-arg-bin={image}=-Tmemory.x");
        }
        println!("cargo::rustc-link-arg-bin={image}=-Tlink.x");
    }
}
