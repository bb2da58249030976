//! Build script: generates the main loop, and passes the memory layout of each board to the linker.
use std::env::var;
use std::fs::{read_to_string, write};

fn main() {
    println!("cargo::rerun-if-changed=boards");
    println!("cargo::rerun-if-changed=src/run.rs");
    variants();
    // Only images for boards need a memory layout.
    if var("CARGO_CFG_TARGET_OS").unwrap() != "none" {
        return;
    }
    let here = var("CARGO_MANIFEST_DIR").unwrap();
    for line in read_to_string("boards/images").unwrap().lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (image, mut board) = (words.next().unwrap(), words.next().unwrap());
        // Some images are also measured on RISC-V.
        if var("CARGO_CFG_TARGET_ARCH").unwrap() == "riscv32" {
            board = "virt";
        }
        println!("cargo::rustc-link-arg-bin={image}=-L{here}/boards/{board}");
        // The linker script of cortex-m-rt includes memory.x. The linker script of riscv-rt does not include memory.x.
        if var("CARGO_CFG_TARGET_ARCH").unwrap() != "arm" {
            println!("cargo::rustc-link-arg-bin={image}=-Tmemory.x");
        }
        println!("cargo::rustc-link-arg-bin={image}=-Tlink.x");
        // The linker merges functions with the same code.
        println!("cargo::rustc-link-arg-bin={image}=--icf=all");
    }
}

/// Copies the main loop `src/run.rs` to the output folder, with the changes that Cargo features select. A change adds
/// or replaces a part, to measure its cost: a float or a `Decimal` as the argument, a `Decimal` in the result, skills,
/// or the decoder of `codec`.
fn variants() {
    let run = read_to_string("src/run.rs").unwrap();
    let mut code: String =
        run.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
    if var("CARGO_FEATURE_FLOAT").is_ok() {
        code = code.replace("on: bool }", "on: f32 }").replace("led = on;", "led = on > 0.5;");
    }
    if var("CARGO_FEATURE_DECIMAL").is_ok() {
        code = code.replace("on: bool }", "on: mcp_proto::Decimal }");
        code = code.replace("led = on;", "led = on > mcp_proto::Decimal::new(5, -1);");
    }
    if var("CARGO_FEATURE_DECIMAL_RESULT").is_ok() {
        code = code.replace("-> &'static str { ", "-> mcp_proto::server::Structured<State> { ");
        code = code.replace("\"ok\" }", "mcp_proto::server::Structured(State { on }) }");
        code += "#[derive(serde::Serialize, mcp_proto::Schema)]\nstruct State { on: mcp_proto::Decimal }\n";
    }
    if var("CARGO_FEATURE_SKILLS").is_ok() {
        code = code.replace("&[ROUTER.tools()]", "&[ROUTER.tools(), &crate::skills::SKILLS]");
    }
    if var("CARGO_FEATURE_CORE_DECODER").is_ok() {
        // To bypass the router's decoder, the handler takes the call, and decodes the arguments with `codec`.
        code = code.replace(
            "#[derive(ToolArguments)]\n#[tool(allow_unknown_fields)]",
            "#[derive(serde::Deserialize)]",
        );
        code = code.replace(", ToolArguments, router", ", router");
        code = code.replace("LedSet { on }: LedSet) -> &'static str { blinky.led = on; \"ok\" }", concat!(
            "call: Call<'_>) { match crate::codec::arguments::<LedSet>(&call, None) { ",
            "Ok(LedSet { on }) => { blinky.led = on; call.text(\"ok\") } Err(error) => call.invalid(error) } }",
        ));
    }
    write(format!("{}/run.rs", var("OUT_DIR").unwrap()), code).unwrap();
}
