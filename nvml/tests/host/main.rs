//! The host, this process and its container. One program: the tests take turns, because there is one monitor in a process.

#[path = "../kit/mod.rs"]
mod kit;

mod names_come_in_two_styles;
#[cfg(target_os = "linux")]
mod psutil_agrees;
#[cfg(target_os = "linux")]
mod the_host_is_measured;
