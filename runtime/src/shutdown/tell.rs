//! Lines to standard error that nobody has to wait for.
//!
//! A step that hangs may hold the lock of standard error, and whoever should read it may have stopped. So a thread of its
//! own writes, past that lock.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::notice;

/// Takes lines.
pub(super) struct Teller(Sender<Told>);

enum Told {
    Line(String),
    /// All that was said before is written.
    Done(Sender<()>),
}

impl Teller {
    /// Starts it. Without a thread for it, nothing is said.
    pub(super) fn start() -> Self {
        let (sender, told) = mpsc::channel();
        let _ = thread::Builder::new().name("tracecast-tell".to_owned()).spawn(move || write(&told));
        Teller(sender)
    }

    /// Says `tracecast: <text>`, if that much is to be said.
    pub(super) fn say(&self, level: u8, text: std::fmt::Arguments<'_>) {
        if level <= notice::LEVEL.load(Relaxed) {
            let _ = self.0.send(Told::Line(format!("tracecast: {text}\n")));
        }
    }

    /// Waits until all is written, or for as long as this: there may be nobody who reads it.
    pub(super) fn settle(&self, timeout: Duration) {
        let (written, heard) = mpsc::channel();
        if self.0.send(Told::Done(written)).is_ok() {
            let _ = heard.recv_timeout(timeout);
        }
    }
}

fn write(told: &Receiver<Told>) {
    let Ok(mut file) = standard_error() else { return };
    for told in told {
        match told {
            Told::Line(line) => drop(file.write_all(line.as_bytes())),
            Told::Done(written) => drop(written.send(())),
        }
    }
}

/// Standard error without its lock.
#[cfg(unix)]
fn standard_error() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stderr().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn standard_error() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    io::stderr().as_handle().try_clone_to_owned().map(File::from)
}
