//! Writes lines to standard error; on Unix without making callers wait for its reader.
//!
//! While standard error accepts lines, the calling thread writes them, so that a line is out before the call returns. The
//! first line that would block is queued, and so are all later lines until a separate thread has written the queue. The
//! queue is bounded; lines that do not fit are dropped and counted, and the count is written when the queue is empty again.

use std::collections::VecDeque;
use std::process;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::stderr;

/// The largest number of queued bytes until `init` sets another limit. The rest of a partly written line may exceed the limit.
const LIMIT: usize = 1 << 20;

pub(super) struct Writer {
    state: Mutex<State>,
    changed: Condvar,
    /// Formats the line that reports dropped lines.
    lost_line: fn(u64) -> Vec<u8>,
}

struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The largest number of queued bytes.
    limit: usize,
    /// Whether the separate thread is writing a line.
    writing: bool,
    /// Lines dropped since the last report.
    lost: u64,
    /// Lines dropped since the process began.
    lost_ever: u64,
    /// The id of the process whose thread writes, or 0. A forked child has a copy of the state, but not the thread.
    thread_of: u32,
    /// Whether a wait for the queue timed out and nothing was written since.
    stuck: bool,
}

/// The next output of the thread.
enum Next {
    Line(Vec<u8>),
    Lost(u64),
}

/// Keeps the writer locked while it lives.
pub(super) struct Held(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, State>);

impl Writer {
    pub(super) const fn new(lost_line: fn(u64) -> Vec<u8>) -> Self {
        Writer { state: Mutex::new(State::new()), changed: Condvar::new(), lost_line }
    }

    /// Writes lines. Queues the lines that would block, and all lines while the queue is not empty.
    pub(super) fn write(&'static self, lines: &[u8]) {
        let mut state = self.lock();
        if state.is_idle() {
            let done = stderr::write_now(lines);
            if done == lines.len() {
                return;
            }
            state.begin(&lines[done..]);
        } else {
            state.push(lines);
        }
        self.run(&mut state);
    }

    /// Waits until everything is written. After a wait that timed out, does not wait again until something was written.
    pub(super) fn settle(&self, timeout: Duration) {
        let state = self.lock();
        if !state.stuck {
            let left = self.changed.wait_timeout_while(state, timeout, |state| !state.is_idle());
            let (mut state, result) = left.unwrap_or_else(PoisonError::into_inner);
            state.stuck = result.timed_out();
        }
    }

    #[cfg(has_otlp)]
    pub(super) fn set_limit(&self, bytes: usize) {
        self.lock().limit = bytes;
    }

    #[cfg(has_otlp)]
    pub(super) fn lost_ever(&self) -> u64 {
        self.lock().lost_ever
    }

    pub(super) fn hold(&'static self) -> Held {
        Held(self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.thread_of != 0 && state.thread_of != process::id() {
            // The parent process writes the copied lines.
            *state = State { limit: state.limit, ..State::new() };
        }
        state
    }

    /// Starts or wakes the separate thread. If the thread cannot be started, the next line tries again.
    fn run(&'static self, state: &mut State) {
        if state.thread_of != 0 {
            return self.changed.notify_all();
        }
        let thread = thread::Builder::new().name("tracecast-lines".to_owned());
        if thread.spawn(|| self.write_waiting()).is_ok() {
            state.thread_of = process::id();
            settle_at_exit();
        }
    }

    /// Writes queued lines. Never returns.
    fn write_waiting(&self) {
        let mut state = self.lock();
        loop {
            let Some(next) = state.next() else {
                self.changed.notify_all();
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            stderr::write(&match next {
                Next::Line(line) => line,
                Next::Lost(lost) => (self.lost_line)(lost),
            });
            state = self.lock();
            state.written();
        }
    }
}

/// Makes the exit of the process wait for queued lines. Processes that never queue a line do not register this.
fn settle_at_exit() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler may run on any thread, and the static that it uses is never dropped.
            unsafe { libc::atexit(super::at_exit) };
        });
    }
}

impl State {
    const fn new() -> Self {
        State {
            waiting: VecDeque::new(),
            bytes: 0,
            limit: LIMIT,
            writing: false,
            lost: 0,
            lost_ever: 0,
            thread_of: 0,
            stuck: false,
        }
    }

    fn is_idle(&self) -> bool {
        !self.writing && self.waiting.is_empty() && self.lost == 0
    }

    /// Queues lines without checking the limit. For an empty queue this may be the rest of a line that was written in part,
    /// which must not be dropped.
    fn begin(&mut self, lines: &[u8]) {
        self.bytes += lines.len();
        self.waiting.push_back(lines.to_vec());
    }

    /// Queues more lines, or drops and counts lines that exceed the limit. After a dropped line all lines are dropped until the
    /// queue is empty, so that one report covers the gap.
    fn push(&mut self, lines: &[u8]) {
        if self.lost > 0 || self.bytes + lines.len() > self.limit {
            let lines = lines.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.lost += lines;
            self.lost_ever += lines;
        } else {
            self.begin(lines);
        }
    }

    fn next(&mut self) -> Option<Next> {
        let next = match self.waiting.pop_front() {
            Some(line) => {
                self.bytes -= line.len();
                Next::Line(line)
            }
            None if self.lost > 0 => Next::Lost(std::mem::take(&mut self.lost)),
            None => return None,
        };
        self.writing = true;
        Some(next)
    }

    fn written(&mut self) {
        (self.writing, self.stuck) = (false, false);
        if self.waiting.is_empty() {
            // Frees the buffer, which has the size of the longest queue so far.
            self.waiting = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_past_the_limit_are_counted_and_reported_after_the_others() {
        let mut state = State::new();
        state.begin(b"first\n");
        state.push(&[b'x'; LIMIT - 6]);
        state.push(b"a\nb\n");
        assert!(matches!(state.next(), Some(Next::Line(line)) if line == b"first\n"));
        state.written();
        // There is room again, but the report has to come first.
        state.push(b"c\n");
        assert!(matches!(state.next(), Some(Next::Line(line)) if line.len() == LIMIT - 6));
        assert!(matches!(state.next(), Some(Next::Lost(3))));
        state.push(b"d\n");
        assert!(!state.is_idle());
        assert!(matches!(state.next(), Some(Next::Line(line)) if line == b"d\n"));
        assert!(state.next().is_none());
        state.written();
        assert!(state.is_idle() && state.bytes == 0);
    }

    #[test]
    fn the_rest_of_a_line_that_has_begun_is_kept_whatever_its_length() {
        let mut state = State::new();
        state.begin(&[b'x'; LIMIT + 1]);
        state.push(b"next\n");
        assert!(matches!(state.next(), Some(Next::Line(line)) if line.len() == LIMIT + 1));
        assert!(matches!(state.next(), Some(Next::Lost(1))));
    }
}
