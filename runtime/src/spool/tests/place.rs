//! The directory and what is in it that is not ours.

use super::*;

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o7777
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
#[cfg(unix)]
fn directory_and_files_are_for_their_user_alone() {
    let scratch = Scratch::new();
    let config = SpoolConfig { directory: scratch.0.join("a/b"), ..scratch.config(PLENTY) };
    let spool = Spool::open(config.clone()).unwrap();
    spool.put(&traces(1, b"one")).unwrap();
    assert_eq!(mode(&config.directory), 0o700);
    assert_eq!(mode(&config.directory.join(&names(&config.directory)[0])), 0o600);
}

#[test]
#[cfg(unix)]
fn a_directory_that_others_can_write_to_is_refused_and_left_as_it_is() {
    let scratch = Scratch::new();
    let directory = scratch.directory();
    fs::create_dir(&directory).unwrap();
    for open in [0o777, 0o1777, 0o770, 0o702] {
        set_mode(&directory, open);
        let text = Spool::open(scratch.config(PLENTY)).unwrap_err().to_string();
        assert!(text.contains(&format!("{directory:?}")) && text.contains(&format!("(mode {open:04o})")), "{text}");
        assert!(text.contains("a directory inside of it") && text.contains("0700"), "{text}");
        assert_eq!(mode(&directory), open);
    }
    set_mode(&directory, 0o755);
    assert!(Spool::open(scratch.config(PLENTY)).is_ok());
}

#[test]
fn what_is_no_directory_is_named() {
    let scratch = Scratch::new();
    fs::write(scratch.directory(), "a file").unwrap();
    let inside = SpoolConfig { directory: scratch.directory().join("spool"), ..scratch.config(PLENTY) };
    for config in [scratch.config(PLENTY), inside] {
        let error = Spool::open(config.clone()).unwrap_err();
        assert_eq!(error.directory, config.directory);
        assert!(error.to_string().contains("can read and write"), "{error}");
    }
    assert_eq!(fs::read(scratch.directory()).unwrap(), b"a file");
}

#[test]
fn files_of_others_are_left_alone() {
    let scratch = Scratch::new();
    let spool = scratch.open(4096);
    let others = ["notes.txt", "tcspool", "x.tmp", "x.bad", "x.tcspool.old", ".hidden"];
    for name in others {
        fs::write(scratch.directory().join(name), [7; 9000]).unwrap();
    }
    fs::create_dir(scratch.directory().join("folder.tcspool")).unwrap();
    for _ in 0..3 {
        spool.put(&traces(1, b"one")).unwrap();
    }
    assert_eq!(drain(&spool), ["one"]);
    assert_eq!(spool.figures().bytes, 0);
    for name in others {
        assert_eq!(fs::read(scratch.directory().join(name)).unwrap(), [7; 9000], "{name}");
    }
    assert_eq!(scratch.names().len(), others.len() + 1);
}

#[test]
#[cfg(unix)]
fn links_and_pipes_are_neither_followed_nor_waited_for() {
    let scratch = Scratch::new();
    let outside = scratch.0.join("outside");
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    let name = scratch.names().remove(0);
    // A good file elsewhere, and a link to it with a name that would be right here.
    fs::rename(scratch.directory().join(&name), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, scratch.directory().join(&name)).unwrap();
    for ending in ["tmp", "bad"] {
        std::os::unix::fs::symlink(&outside, scratch.directory().join(format!("link.tcspool.{ending}"))).unwrap();
    }
    let pipe = scratch.directory().join(name.replace("-1-43-traces", "-2-43-traces"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let before = (fs::read(&outside).unwrap(), scratch.names());

    assert!(next(&spool).is_none());
    // Known from before, as it was a plain file then.
    lock(&spool.inner.known).waiting.extend([name.parse::<Name>().unwrap(), pipe_name(&pipe)]);
    assert!(next(&spool).is_none());
    assert_eq!(spool.figures(), Figures::default());
    assert_eq!((fs::read(&outside).unwrap(), scratch.names()), before);
}

#[cfg(unix)]
fn pipe_name(path: &Path) -> Name {
    path.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

#[test]
fn a_directory_that_vanishes_is_made_again() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    spool.put(&traces(1, b"two")).unwrap();
    let one = next(&spool).unwrap();
    fs::remove_dir_all(scratch.directory()).unwrap();
    assert!(next(&spool).is_none());
    assert_eq!(spool.figures(), Figures::default());
    one.done();
    spool.put(&traces(1, b"three")).unwrap();
    let three = next(&spool).unwrap();
    fs::remove_dir_all(scratch.directory()).unwrap();
    three.back();
    assert!(next(&spool).is_none());
    spool.put(&traces(1, b"four")).unwrap();
    #[cfg(unix)]
    assert_eq!(mode(&scratch.directory()), 0o700);
    assert_eq!(drain(&spool), ["four"]);
}

#[test]
fn something_else_in_place_of_the_directory_is_a_failure_that_says_so() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    fs::remove_dir(scratch.directory()).unwrap();
    fs::write(scratch.directory(), "a file").unwrap();
    let refused = spool.put(&traces(1, b"one")).unwrap_err();
    assert_eq!(refused.reason, Reason::Failed);
    assert!(refused.text.contains("Not a directory"), "{}", refused.text);
    let path = scratch.directory().display().to_string();
    assert!(!refused.text.contains(&path), "its path may not be shown: {}", refused.text);
    assert!(next(&spool).is_none());
}
