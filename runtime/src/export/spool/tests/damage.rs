//! Damaged and foreign files: set aside, counted, never sent, never fatal.

use super::*;

/// Stores a request, changes its file, and claims the next request.
fn check(what: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(3, b"damaged")).unwrap();
    let name = scratch.names().remove(0);
    spool.put(&traces(1, b"whole")).unwrap();
    let path = scratch.directory().join(&name);
    let mut file = fs::read(&path).unwrap();
    change(&mut file);
    fs::write(&path, &file).unwrap();

    assert_eq!(drain(&spool), ["whole"], "{what}");
    let figures = spool.figures();
    assert_eq!((figures.files, figures.set_aside, figures.lost.set_aside), (0, 1, 1), "{what}");
    assert_eq!(figures.lost.damaged.ours, Items { traces: 3, logs: 0 }, "{what}");
    assert_eq!(scratch.names(), [format!("{name}.bad")], "{what}");
    assert_eq!(fs::read(scratch.directory().join(format!("{name}.bad"))).unwrap(), file, "{what}");
    // Neither this spool nor a later one reads it again.
    let later = scratch.open(PLENTY);
    assert!(next(&later).is_none());
    assert_eq!((later.figures().set_aside, later.lost()), (1, Lost::default()));
}

#[test]
fn empty() {
    check("empty", Vec::clear);
}

#[test]
fn torn() {
    for length in [1, 39, 40, 46] {
        check("torn", |file| file.truncate(length));
    }
    check("zeros at the end", |file| file[44..].fill(0));
    check("all zeros", |file| file.fill(0));
}

#[test]
fn longer_than_it_says() {
    check("longer", |file| file.push(0));
}

#[test]
fn a_flipped_bit() {
    for bit in [0, 8 * 8, 10 * 8, 12 * 8 + 3, 16 * 8, 24 * 8 + 5, 33 * 8, 40 * 8, 46 * 8 + 7] {
        check("a bit", |file| file[bit / 8] ^= 1 << (bit % 8));
    }
}

#[test]
fn from_a_later_version() {
    check("version", |file| {
        file[8] = 2;
        // The checksum matches, as in a file of a later version.
        let sum = crc32fast::hash(&[&file[..12], &file[16..]].concat());
        file[12..16].copy_from_slice(&sum.to_le_bytes());
    });
}

#[test]
fn something_else() {
    check("text", |file| *file = b"Dear diary, today I wrote more than forty bytes into a file.".to_vec());
}

#[test]
fn anything_at_all() {
    let mut random = Random(0x5eed);
    for _ in 0..30 {
        check("random", |file| {
            let length = random.below(200);
            let start = random.below(file.len() as u64) as usize;
            file.truncate(start);
            file.extend((0..length).map(|_| random.below(256) as u8));
            // The random change may restore the original.
            file.push(0xa5);
        });
    }
}

#[test]
fn a_name_that_does_not_fit_its_file() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&logs(3, b"a record")).unwrap();
    let name = scratch.names().remove(0);
    let path = |name: &str| scratch.directory().join(name);
    fs::rename(path(&name), path(&name.replace("logs", "traces"))).unwrap();
    assert!(next(&spool).is_none());
    assert_eq!(spool.lost().set_aside, 1);
}

#[test]
fn a_name_of_ours_that_says_nothing() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    fs::write(scratch.directory().join("what.tcspool"), "?").unwrap();
    spool.put(&traces(1, b"one")).unwrap();
    assert_eq!(spool.lost(), Lost { set_aside: 1, ..Lost::default() });
    assert!(scratch.directory().join("what.tcspool.bad").exists());
    assert_eq!(drain(&spool), ["one"]);
}

#[test]
fn few_of_them_are_kept() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    for _ in 0..40 {
        spool.put(&traces(1, b"one")).unwrap();
    }
    for name in scratch.names() {
        fs::write(scratch.directory().join(name), "").unwrap();
    }
    assert!(next(&spool).is_none());
    assert_eq!(spool.lost().set_aside, 40);
    assert!(next(&spool).is_none());
    assert_eq!(spool.figures().set_aside, 16);

    // Unreadable files may take only a small part of the spool, because requests that can be sent are worth more.
    let smaller = scratch.open(8 * 8 * 4096);
    assert_eq!(smaller.figures().set_aside, 8);
    smaller.put(&traces(1, &[b'a'; 63 * 4096])).unwrap();
    assert_eq!(smaller.lost(), Lost::default());
    assert_eq!(smaller.figures().set_aside, 0);
}

#[test]
fn a_file_that_is_too_large_to_be_ours_is_not_read() {
    let scratch = Scratch::new();
    let spool = scratch.open(1 << 20);
    spool.put(&traces(1, b"one")).unwrap();
    let path = scratch.directory().join(scratch.names().remove(0));
    // A sparse file: it takes no room on disk, but would take all memory.
    fs::File::options().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
    assert!(next(&spool).is_none());
    assert_eq!(spool.lost().set_aside, 1);
    assert!(next(&spool).is_none());
    assert_eq!(scratch.names(), Vec::<String>::new(), "it is more than is kept of what cannot be read");
}

#[test]
fn a_name_with_numbers_beyond_all_measure() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    let name: Name = scratch.names()[0].parse().unwrap();
    for number in 7..10 {
        let name = Name { number, items: u64::MAX, bytes: u64::MAX, ..name };
        fs::write(scratch.directory().join(name.to_string()), "").unwrap();
    }
    assert_eq!(spool.figures().items.traces, u64::MAX);
    // The three files are as new as the first file. Files beyond the limit are removed.
    spool.put(&traces(1, b"two")).unwrap();
    assert_eq!(spool.lost().evicted.ours.traces, 1, "nobody lost what this spool did not put there");
    assert_eq!(drain(&spool), ["two"]);
}
