//! The directory, and files and links of others in it.

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
    let config = Settings { directory: scratch.0.join("a/b").into(), ..scratch.config(PLENTY) };
    let spool = Spool::open(config.clone()).unwrap();
    spool.put(&traces(1, b"one")).unwrap();
    assert_eq!(mode(&config.directory), 0o700);
    assert_eq!(mode(&config.directory.join(&names(&config.directory)[0])), 0o600);
}

/// The path of this user's subdirectory in a directory that others can write to.
#[cfg(unix)]
fn own(scratch: &Scratch) -> PathBuf {
    scratch.directory().join(owner::directory_name())
}

#[test]
#[cfg(unix)]
fn in_a_directory_that_others_can_write_to_a_spool_has_one_of_its_own() {
    for open in [0o777, 0o1777, 0o770, 0o702, 0o2777] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.directory()).unwrap();
        set_mode(&scratch.directory(), open);
        scratch.open(PLENTY).put(&traces(1, b"one")).unwrap();
        assert_eq!((mode(&scratch.directory()), mode(&own(&scratch)) & 0o777), (open, 0o700));
        assert_eq!((scratch.names().len(), names(&own(&scratch)).len()), (1, 1), "{open:o}");
        assert_eq!(drain(&scratch.open(PLENTY)), ["one"]);
    }
}

#[test]
#[cfg(unix)]
fn a_private_directory_is_used_as_it_is() {
    for private in [0o700, 0o755, 0o750] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.directory()).unwrap();
        set_mode(&scratch.directory(), private);
        scratch.open(PLENTY).put(&traces(1, b"one")).unwrap();
        assert!(!own(&scratch).exists() && scratch.names().len() == 1);
    }
}

#[test]
#[cfg(unix)]
fn the_own_directory_may_not_be_made_by_others() {
    let elsewhere = Scratch::new();
    let refused = |prepare: &dyn Fn(&Path), fault: &str| {
        let scratch = Scratch::new();
        fs::create_dir(scratch.directory()).unwrap();
        set_mode(&scratch.directory(), 0o777);
        prepare(&own(&scratch));
        let error = Spool::open(scratch.config(PLENTY)).unwrap_err();
        assert_eq!(error.directory, own(&scratch));
        assert!(error.text.contains(fault) && error.text.contains("mode 0700"), "{error}");
    };
    let make_open = |path: &Path| {
        fs::create_dir(path).unwrap();
        set_mode(path, 0o777);
    };
    refused(&make_open, "others can write to it (mode 0777)");
    refused(&|path| std::os::unix::fs::symlink(&elsewhere.0, path).unwrap(), "it is a symbolic link");
    assert!(names(&elsewhere.0).is_empty(), "nothing is written behind a link");
    if is_root() {
        let give_away = |path: &Path| {
            fs::create_dir(path).unwrap();
            std::os::unix::fs::chown(path, Some(7), None).unwrap();
        };
        refused(&give_away, "user 7 owns it, and this process runs as user 0");
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    // SAFETY: the call has no conditions.
    unsafe { libc::geteuid() == 0 }
}

#[test]
#[cfg(unix)]
fn a_directory_of_another_user_is_not_used_as_it_is() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.directory()).unwrap();
    if is_root() {
        std::os::unix::fs::chown(scratch.directory(), Some(7), None).unwrap();
        scratch.open(PLENTY).put(&traces(1, b"one")).unwrap();
        assert_eq!((scratch.names().len(), names(&own(&scratch)).len()), (1, 1));
    } else {
        let error = directory::prepare(Path::new("/")).unwrap_err();
        assert_eq!(error.directory, Path::new("/").join(owner::directory_name()), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn links_to_the_directory_are_followed_if_root_or_this_user_made_them() {
    let scratch = Scratch::new();
    let link = scratch.0.join("link");
    fs::create_dir(scratch.directory()).unwrap();
    std::os::unix::fs::symlink(scratch.directory(), &link).unwrap();
    let open = |directory: PathBuf| Spool::open(Settings { directory: directory.into(), ..scratch.config(PLENTY) });
    open(link.clone()).unwrap().put(&traces(1, b"one")).unwrap();
    assert_eq!(drain(&scratch.open(PLENTY)), ["one"]);
    if is_root() {
        std::os::unix::fs::lchown(&link, Some(7), None).unwrap();
        for directory in [link.clone(), link.join("inside")] {
            let error = open(directory).unwrap_err().to_string();
            assert!(error.contains("user 7 owns a symbolic link in its path"), "{error}");
        }
        assert!(scratch.names().is_empty(), "nothing is made behind it");
    }
}

#[test]
#[cfg(unix)]
fn a_file_of_another_user_is_not_sent() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    if is_root() {
        let path = scratch.directory().join(&scratch.names()[0]);
        std::os::unix::fs::chown(&path, Some(7), None).unwrap();
        assert!(next(&spool).is_none());
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    assert_eq!(drain(&scratch.open(PLENTY)), ["one"]);
}

#[test]
fn what_is_no_directory_is_named() {
    let scratch = Scratch::new();
    fs::write(scratch.directory(), "a file").unwrap();
    let inside = Settings { directory: scratch.directory().join("spool").into(), ..scratch.config(PLENTY) };
    for config in [scratch.config(PLENTY), inside] {
        let error = Spool::open(config.clone()).unwrap_err();
        assert_eq!(error.directory, *config.directory);
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
    // A valid file elsewhere, and a link to it with a valid name.
    fs::rename(scratch.directory().join(&name), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, scratch.directory().join(&name)).unwrap();
    for ending in ["tmp", "bad"] {
        std::os::unix::fs::symlink(&outside, scratch.directory().join(format!("link.tcspool.{ending}"))).unwrap();
    }
    let pipe = scratch.directory().join(name.replace("-1-43-traces", "-2-43-traces"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let before = (fs::read(&outside).unwrap(), scratch.names());

    assert!(next(&spool).is_none());
    // Known from the time when it was a plain file.
    lock(&spool.inner.known).waiting.extend([name.parse::<Name>().unwrap(), pipe_name(&pipe)]);
    assert!(next(&spool).is_none());
    let lost = Lost { missing: Items { traces: 1, logs: 0 }, ..Lost::default() };
    assert_eq!(spool.figures(), Figures { lost, ..Figures::default() });
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
#[cfg(unix)]
fn a_directory_that_was_replaced_is_not_written_to() {
    let elsewhere = Scratch::new();
    let refused = |replace: &dyn Fn(&Path), fault: &str| {
        let scratch = Scratch::new();
        fs::create_dir(scratch.directory()).unwrap();
        set_mode(&scratch.directory(), 0o777);
        let spool = scratch.open(PLENTY);
        fs::remove_dir_all(own(&scratch)).unwrap();
        replace(&own(&scratch));
        let refused = spool.put(&traces(1, b"one")).unwrap_err();
        assert!(refused.text.contains(fault), "{}", refused.text);
    };
    let make_open = |path: &Path| {
        fs::create_dir(path).unwrap();
        set_mode(path, 0o777);
    };
    refused(&make_open, "others can write to it (mode 0777)");
    refused(&|path| std::os::unix::fs::symlink(&elsewhere.0, path).unwrap(), "it is a symbolic link");
    assert!(names(&elsewhere.0).is_empty(), "nothing is written behind a link");
}

#[test]
fn something_else_in_place_of_the_directory_is_a_failure_that_says_so() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    fs::remove_dir(scratch.directory()).unwrap();
    fs::write(scratch.directory(), "a file").unwrap();
    let refused = spool.put(&traces(1, b"one")).unwrap_err();
    assert_eq!(refused.reason, Reason::Failed);
    #[cfg(unix)]
    assert!(refused.text.contains("Not a directory"), "{}", refused.text);
    let path = scratch.directory().display().to_string();
    assert!(!refused.text.contains(&path), "its path may not be shown: {}", refused.text);
    assert!(next(&spool).is_none());
}
