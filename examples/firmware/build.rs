//! Tells the linker about the board of each image.
use std::env::var;

/// Which image is for which board. `boards` has the memory of each.
const IMAGES: &[(&str, &str)] = &[("blinky", "lm3s6965")];

fn main() {
    println!("cargo::rerun-if-changed=boards");
    // On the PC there is nothing but the logic and its tests.
    if var("CARGO_CFG_TARGET_OS").unwrap() != "none" {
        return;
    }
    let here = var("CARGO_MANIFEST_DIR").unwrap();
    for (image, board) in IMAGES {
        println!("cargo::rustc-link-arg-bin={image}=-L{here}/boards/{board}");
        println!("cargo::rustc-link-arg-bin={image}=-Tlink.x");
    }
}
