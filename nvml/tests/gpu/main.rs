//! GPUs of a fake driver. One program: the tests take turns, because there is one monitor in a process.

#[path = "../kit/mod.rs"]
mod kit;

mod absent_drivers_are_said;
mod drivers_of_any_age;
mod drivers_that_were_recorded;
mod events_reach_the_program;
mod gpus_are_looked_after;
mod names_come_in_two_styles;
mod nothing_is_lost_between_exports;
mod options_are_asked_for;
mod sick_gpus_become_gaps;
mod spans_are_told_of_xids;
mod wear_is_what_the_driver_counts;
mod xids_are_counted;
