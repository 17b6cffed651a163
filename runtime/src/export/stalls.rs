//! The watchdog: a thread that reports polls which block their thread for longer than a threshold.
//!
//! The watchdog never waits for a watched thread: it reads the state that each thread publishes
//! (`record/published.rs`), writes notices and updates metrics. The thread of the span itself adds the event to the
//! span (`record/polls.rs`).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use self::keys::span;
use crate::base::notice;
use crate::base::suppress;
use crate::declare::interned::InternedKey as _;
use crate::declare::switch;
use crate::record::watch::{Seen, Watch};
use crate::tc_metrics;

mod keys {
    crate::tc_keys! {
        /// The innermost span of a thread that stays inside of one poll.
        pub(super) label span: Interned<256> = "span";
    }
}

tc_metrics! {
    /// Polls that kept their thread for longer than the threshold, by the innermost span.
    static STALLS: Counter<(keys::span,)> = "tc_stalls_total";
    /// How long these polls took.
    static STALL_SECONDS: Histogram = "tc_stall_duration_seconds" {
        buckets: [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0],
    };
}

/// The value of the label `span` for a poll outside of all spans.
const NO_SPAN: &str = "none";

/// The running watchdog. Dropping it ends the thread.
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The process in which the thread runs; a forked child does not have this thread.
    process: u32,
}

#[derive(Default)]
struct Shared {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Watchdog {
    /// Starts the watchdog: makes threads publish their polls, and reports polls that take at least `threshold`.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub(crate) fn start(threshold: Duration) -> std::io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let on_thread = shared.clone();
        let run = move || {
            let _suppressed = suppress::suppressed();
            on_thread.run(threshold);
        };
        let thread = thread::Builder::new().name("tracecast-stalls".to_owned()).spawn(run)?;
        switch::set_watching(true);
        Ok(Watchdog { shared, thread: Some(thread), process: std::process::id() })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // A forked child has no such thread to end. Dropping the `JoinHandle` of the parent's thread does not wait.
            return;
        }
        switch::set_watching(false);
        *self.shared.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.changed.notify_all();
        // This wait is short: the thread runs no code of the program, and is at most in the middle of one look.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn run(&self, threshold: Duration) {
        let period = (threshold / 4).clamp(Duration::from_millis(1), Duration::from_millis(100));
        let (mut watch, mut lines) = (Watch::new(threshold.as_secs_f64()), Lines::default());
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            drop(is_over);
            watch.look(|seen| report(&seen, &mut lines));
            is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_over {
                is_over = self.changed.wait_timeout(is_over, period).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        // Counts the polls that have ended meanwhile.
        watch.look(|seen| report(&seen, &mut lines));
    }
}

fn report(seen: &Seen, lines: &mut Lines) {
    match seen {
        Seen::Ended(seconds) => STALL_SECONDS.record(*seconds, ()),
        Seen::Stalls(innermost, seconds) => {
            let name = innermost.map(|callsite| callsite.name());
            STALLS.add(1_u64, (span::intern(name.unwrap_or(NO_SPAN)),));
            lines.write(name, *seconds);
        }
    }
}

/// The maximum number of lines per minute. Further stalls are counted, and the next line shows their number.
const LINES: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Lines {
    began: Option<Instant>,
    written: u32,
    left_out: u32,
}

impl Lines {
    fn write(&mut self, span: Option<&str>, seconds: f64) {
        if self.began.is_none_or(|began| began.elapsed() >= MINUTE) {
            (self.began, self.written) = (Some(Instant::now()), 0);
        }
        if self.written >= LINES {
            self.left_out += 1;
            return;
        }
        self.written += 1;
        notice::say(format_args!("{}", line(span, seconds, std::mem::take(&mut self.left_out))));
    }
}

fn line(span: Option<&str>, seconds: f64, left_out: u32) -> String {
    let place = span.map_or_else(|| "outside of spans".to_owned(), |span| format!("in `{span}`"));
    let before =
        if left_out > 0 { format!(" ({left_out} stalls before this one were counted only)") } else { String::new() };
    format!(
        "warning: a thread stalls {place}: one poll has lasted for {seconds:.3} s, and other tasks of this thread \
         wait; move work that blocks to `spawn_blocking`{before}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_span_and_the_duration() {
        assert_eq!(
            line(Some("Store/Read"), 0.12345, 0),
            "warning: a thread stalls in `Store/Read`: one poll has lasted for 0.123 s, and other tasks of this thread \
             wait; move work that blocks to `spawn_blocking`"
        );
        assert!(
            line(None, 1.0, 0)
                .starts_with("warning: a thread stalls outside of spans: one poll has lasted for 1.000 s")
        );
        assert!(line(None, 1.0, 7).ends_with("(7 stalls before this one were counted only)"));
    }
}
