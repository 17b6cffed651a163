//! Addresses on which nobody listens. None is in the range from which the system gives ports to clients and tests: another process, or
//! the client itself, could be given it.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// An address that refuses connections for as long as the test runs.
pub const NOBODY: &str = "127.0.0.1:1";

/// A port on which a server can be started: nobody has it, and this process returns it once.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 20_000 + (std::process::id() % 10_000) as u16;
    loop {
        let port = start + NEXT.fetch_add(1, Relaxed) % 2_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
