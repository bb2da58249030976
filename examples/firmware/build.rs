//! Tells the linker about the board of each image.
use std::env::var;
use std::fs::{read_to_string, write};

fn main() {
    println!("cargo::rerun-if-changed=boards");
    println!("cargo::rerun-if-changed=src/run.rs");
    with_a_float();
    // On the PC there is nothing but the logic and its tests.
    if var("CARGO_CFG_TARGET_OS").unwrap() != "none" {
        return;
    }
    let here = var("CARGO_MANIFEST_DIR").unwrap();
    for line in read_to_string("boards/images").unwrap().lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (image, board) = (words.next().unwrap(), words.next().unwrap());
        println!("cargo::rustc-link-arg-bin={image}=-L{here}/boards/{board}");
        // The script of cortex-m-rt asks for this one by itself, that of riscv-rt does not.
        if var("CARGO_CFG_TARGET_ARCH").unwrap() != "arm" {
            println!("cargo::rustc-link-arg-bin={image}=-Tmemory.x");
        }
        println!("cargo::rustc-link-arg-bin={image}=-Tlink.x");
    }
}

/// The main loop with a float among its arguments, to see what that costs.
fn with_a_float() {
    let run = read_to_string("src/run.rs").unwrap();
    let code: String =
        run.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
    let code = code.replace("on: bool }", "on: f32 }").replace("set_led(on)", "set_led(on > 0.5)");
    write(format!("{}/run.rs", var("OUT_DIR").unwrap()), code).unwrap();
}
