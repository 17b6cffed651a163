//! Names the parts of the crate that this build has, so that each condition is written once.
//!
//! WebAssembly's standard library has no sockets and no threads, and loom replaces those of the tests, so a feature adds nothing there.

use std::env::var_os;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_wasm = var_os("CARGO_CFG_TARGET_FAMILY").is_some_and(|family| family.to_string_lossy().contains("wasm"));
    let is_loom = var_os("CARGO_CFG_LOOM").is_some();
    for part in ["otlp", "logs", "otel", "tracing", "tracing_emit"] {
        println!("cargo::rustc-check-cfg=cfg(has_{part})");
        let is_enabled = var_os(format!("CARGO_FEATURE_{}", part.to_uppercase())).is_some();
        if is_enabled && !is_wasm && !is_loom {
            println!("cargo::rustc-cfg=has_{part}");
        }
    }
}
