//! Disks that are full or read-only.

use std::process::Command;

use super::program::{Program, role, say};
use super::*;

/// Stores requests until one is refused. Returns the number of stored requests, and the error of the refused one.
fn fill(spool: &Spool) -> (usize, Refused) {
    let mut kept = 0;
    loop {
        match spool.put(&traces(1, &[b'a'; 9_000])) {
            Ok(_) => kept += 1,
            Err(refused) => return (kept, refused),
        }
    }
}

fn has_temporary(directory: &Path) -> bool {
    names(directory).iter().any(|name| name.ends_with(".tmp"))
}

/// Checks a disk that is smaller than the spool's limit, and that becomes read-only.
fn use_small_disk(directory: PathBuf) {
    let config = Settings { directory: directory.clone().into(), max_bytes: PLENTY, max_age: LONG };
    let spool = Spool::open(config.clone()).unwrap();
    let (kept, refused) = fill(&spool);
    assert_eq!((refused.reason, spool.lost()), (Reason::NoSpace, Lost::default()), "{refused}");
    assert!(refused.text.contains("No space left on device"), "{refused}");
    assert!(kept > 5);
    assert_eq!(names(&directory).len(), kept, "nothing is left of the one that had no room");
    // A spool opened on a full disk works as soon as there is room.
    let later = Spool::open(config.clone()).unwrap();
    assert_eq!(fill(&later).0, 0);
    next(&later).unwrap().done();
    later.put(&traces(1, &[b'b'; 9_000])).unwrap();
    assert!(!has_temporary(&directory));

    let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&directory).status().unwrap();
    assert!(mounted.success());
    let refused = later.put(&traces(1, b"no")).unwrap_err();
    assert_eq!((refused.reason, later.lost()), (Reason::ReadOnly, Lost::default()), "{refused}");
    // A file that cannot be removed would be sent again and again.
    assert!(next(&later).is_none());
    assert_eq!(later.figures().files as usize, kept);
    let error = Spool::open(config).unwrap_err().to_string();
    assert!(error.contains(&format!("{directory:?}")) && error.contains("read and write"), "{error}");
    say(format_args!("{kept} were kept"));
}

/// Uses a disk of its own if the system allows that; otherwise the test with a limit below covers it.
#[test]
fn a_full_disk_and_a_read_only_one_refuse_and_keep_what_they_have() {
    if let Some((_, directory)) = role() {
        return use_small_disk(directory);
    }
    let scratch = Scratch::new();
    fs::create_dir(scratch.directory()).unwrap();
    let disk = |then: &str| {
        let mut command = Command::new("unshare");
        let mount = format!("mount -t tmpfs -o size=200k,mode=0700 tmpfs \"$0\" && {then}");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &mount]).arg(scratch.directory());
        command
    };
    if !disk("true").status().is_ok_and(|status| status.success()) {
        println!("left out: this system does not let a test mount a disk of its own");
        return;
    }
    let mut command = disk("exec \"$@\"");
    command.arg(std::env::current_exe().unwrap());
    let name = "disk::a_full_disk_and_a_read_only_one_refuse_and_keep_what_they_have";
    let said = Program::start_by(command, name, "small disk", &scratch.directory()).finish();
    assert!(said.concat().ends_with(" were kept"), "{said:?}");
    println!("{said:?}");
}

/// A file beyond the process's limit would end the process by a signal.
#[test]
fn a_limit_on_the_length_of_files_refuses_and_does_not_end_the_process() {
    if let Some((_, directory)) = role() {
        let spool =
            Spool::open(Settings { directory: directory.clone().into(), max_bytes: PLENTY, max_age: LONG }).unwrap();
        let limit = libc::rlimit { rlim_cur: 8192, rlim_max: 8192 };
        // SAFETY: the pointer is to a structure of the type that the call reads.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
        let refused = spool.put(&traces(1, &[b'a'; 8192])).unwrap_err();
        assert_eq!(refused.reason, Reason::TooLarge);
        assert!(!has_temporary(&directory));
        spool.put(&traces(1, &[b'a'; 8192 - 40])).unwrap();
        return say(refused);
    }
    let scratch = Scratch::new();
    let name = "disk::a_limit_on_the_length_of_files_refuses_and_does_not_end_the_process";
    let said = Program::start(name, "limited", &scratch.directory()).finish();
    assert_eq!(said, ["a request of 8232 bytes is too large for a spool of 8192"]);
    assert_eq!(drain(&scratch.open(PLENTY)).len(), 1);
}

/// Root may write anywhere, so the thread acts as another user.
fn as_plain_user(directory: &Path) {
    const NOBODY: u32 = 65534;
    // SAFETY: the calls have no conditions. The second changes the effective user of this thread only, which is this test's.
    unsafe {
        if libc::geteuid() == 0 {
            std::os::unix::fs::chown(directory, Some(NOBODY), None).unwrap();
            assert_eq!(libc::syscall(libc::SYS_setresuid, -1, NOBODY, -1), 0);
        }
    }
}

#[test]
fn a_directory_that_may_not_be_written_to_refuses_and_sends_nothing_twice() {
    let set_mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    let scratch = Scratch::new();
    let directory = scratch.directory();
    fs::create_dir(&directory).unwrap();
    set_mode(&directory, 0o700);
    set_mode(&scratch.0, 0o777);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            as_plain_user(&directory);
            let spool = scratch.open(PLENTY);
            spool.put(&traces(1, b"one")).unwrap();
            spool.put(&traces(1, b"two")).unwrap();
            let one = next(&spool).unwrap();
            set_mode(&directory, 0o500);

            let refused = spool.put(&traces(1, b"no")).unwrap_err();
            assert_eq!(refused.reason, Reason::ReadOnly, "{refused}");
            let error = Spool::open(scratch.config(PLENTY)).unwrap_err().to_string();
            assert!(error.contains(&format!("{directory:?}")) && error.contains("read and write"), "{error}");
            // The request was sent and cannot be removed. Neither this spool nor a later one sends it again.
            one.done();
            assert_eq!(lock(&spool.inner.known).handled.len(), 1);
            let two = next(&spool).unwrap();
            assert_eq!(two.bytes, "two");
            assert!(next(&spool).is_none());
            two.back();

            set_mode(&directory, 0o700);
            assert_eq!(drain(&scratch.open(PLENTY)), ["two"]);
            assert!(!has_temporary(&directory));
        });
    });
}
