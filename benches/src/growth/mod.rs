//! How cost grows with threads, depth, attributes and callsites, and with the rate of spans until some are dropped.

mod callsites;
mod saturation;
mod shapes;
mod threads;

pub use saturation::run_here;

use crate::report::Report;

pub fn report(quick: bool, report: &mut Report) {
    threads::report(quick, report);
    shapes::report(quick, report);
    if !quick {
        // A separate program, which takes a minute to build.
        callsites::report(report);
    }
    saturation::report(quick, report);
}
