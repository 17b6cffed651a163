//! The timed cases of each library.

use std::hint::black_box;

use super::library::{Library, Phase};
use super::ours::Tracecast;
use crate::work;

const UUIDS: [&str; 2] = ["1b4e28ba-2fa1-11d2-883f-0016d3cca427", "6fa459ea-ee8a-3ca4-894e-db77e160355e"];

pub const ZERO: &str = "0 attributes";
pub const TWO: &str = "2 attributes";
pub const FOUR: &str = "4 attributes";
pub const STRINGS: &str = "2 owned strings";
pub const EVENT: &str = "1 event";
pub const TREE: &str = "tree of 100 spans";
pub const CHAIN: &str = "async, 11 spans, 10 awaits";
pub const SPAWN: &str = "task spawned in a span";
pub const ALL: [&str; 8] = [ZERO, TWO, FOUR, STRINGS, EVENT, TREE, CHAIN, SPAWN];

/// One library with one case.
pub struct Contender {
    pub case: &'static str,
    pub library: &'static str,
    /// Runs a round, below a root.
    pub round: fn(),
    /// Repetitions per round: about as many spans as a chunk or two can hold.
    pub times: u64,
    pub settle: fn(),
}

/// Returns all cases of a library in this phase, if it supports it; some only for the comparison of threads.
pub fn of<L: Library>(phase: Phase) -> Vec<Contender> {
    let Some(started) = L::start(phase) else { return Vec::new() };
    // Started once per process.
    std::mem::forget(started);
    let case = |case, times, round| Contender { case, library: L::NAME, round, times, settle: L::settle };
    vec![
        case(ZERO, 200, || repeat::<L, _>(200, L::zero)),
        case(TWO, 200, || repeat::<L, _>(200, L::two)),
        case(FOUR, 200, || repeat::<L, _>(200, L::four)),
        case(STRINGS, 200, || repeat::<L, _>(200, |x| L::strings(x, UUIDS[0], UUIDS[1]))),
        case(EVENT, 200, || repeat::<L, _>(200, L::event)),
        case(TREE, 2, || repeat::<L, _>(2, L::tree)),
        case(CHAIN, 20, || repeat::<L, _>(20, |x| work::drive(L::chain(x)))),
        case(SPAWN, 50, || L::rooted(&mut || spawn_fifty::<L>())),
    ]
}

/// Our case with two strings.
pub const STRINGS_RECORDED: fn() = || repeat::<Tracecast, _>(200, |x| Tracecast::strings(x, UUIDS[0], UUIDS[1]));

/// Records spans without attributes below one root.
pub fn count<L: Library>(phase: Phase, calls: u64) {
    std::mem::forget(L::start(phase));
    repeat::<L, _>(calls, L::zero);
}

fn repeat<L: Library, R>(times: u64, work: impl Fn(u64) -> R) {
    L::rooted(&mut || {
        for x in 0..times {
            black_box(work(black_box(x)));
        }
    });
}

/// On this thread's runtime, so that it does not wait for other threads.
fn spawn_fifty<L: Library>() {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    }
    RUNTIME.with(|runtime| {
        // The current span is current here, where the tasks are spawned, and not in them.
        let tasks: Vec<_> = (0..50).map(|x| runtime.spawn(L::task(x))).collect();
        runtime.block_on(async {
            for task in tasks {
                black_box(task.await.expect("the task ends"));
            }
        });
    });
}
