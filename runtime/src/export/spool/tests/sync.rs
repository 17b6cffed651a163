//! A request counts as stored only after it was synced: if a sync fails, it is refused and no part of it is left.

use std::os::fd::AsRawFd;

use super::program::{Program, role, say};
use super::*;

/// Makes the system call fail on this thread, for this file descriptor.
fn fail_sync_of(descriptor: u32) {
    let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, offset);
    let unless = |value, skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, skip, value);
    let answer = |value| step(libc::BPF_RET | libc::BPF_K, 0, value);
    // The number of the call, and the lower half of its first argument.
    let (number, argument) = (0, if cfg!(target_endian = "little") { 16 } else { 20 });
    let mut filter = [
        load(number),
        unless(u32::try_from(libc::SYS_fsync).unwrap(), 3),
        load(argument),
        unless(descriptor, 1),
        answer(libc::SECCOMP_RET_ERRNO | libc::EIO as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its instructions outlive the call, which copies them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
    }
}

fn step(code: u32, skip: u8, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: skip, k: value }
}

/// `later` is how many descriptors are taken between the first free one and the one whose sync shall fail.
fn check(test: &str, later: u32) {
    if let Some((_, directory)) = role() {
        let spool =
            Spool::open(Settings { directory: directory.clone().into(), max_bytes: PLENTY, max_age: LONG }).unwrap();
        spool.put(&traces(1, b"before")).unwrap();
        let free = fs::File::open("/dev/null").unwrap().as_raw_fd();
        fail_sync_of(free as u32 + later);
        let refused = spool.put(&traces(1, b"one")).unwrap_err();
        assert_eq!(refused.reason, Reason::Failed);
        assert_eq!(names(&directory).len(), 1);
        assert_eq!(drain(&spool), ["before"]);
        return say(refused);
    }
    let scratch = Scratch::new();
    let said = Program::start(test, "", &scratch.directory()).finish();
    assert!(said.concat().contains("error 5"), "{said:?}");
}

#[test]
fn of_the_file() {
    check("sync::of_the_file", 0);
}

#[test]
fn of_the_directory() {
    check("sync::of_the_directory", 1);
}
