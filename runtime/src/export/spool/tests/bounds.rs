//! Limits of bytes and age, over all processes.

use super::*;

const BLOCK: u64 = 4096;

fn evicted(lost: Lost) -> (u64, u64) {
    (lost.evicted.ours.traces + lost.evicted.ours.logs, lost.evicted.others.traces + lost.evicted.others.logs)
}

#[test]
fn the_oldest_give_way_whoever_wrote_them() {
    let scratch = Scratch::new();
    let earlier = scratch.open(3 * BLOCK);
    earlier.put(&traces(1, b"one")).unwrap();
    let spool = scratch.open(3 * BLOCK);
    spool.put(&traces(2, b"two")).unwrap();
    spool.put(&logs(4, b"three")).unwrap();
    spool.put(&traces(8, b"four")).unwrap();
    assert_eq!(evicted(spool.lost()), (0, 1));
    spool.put(&traces(16, &[0; BLOCK as usize])).unwrap();
    assert_eq!(spool.lost().evicted.ours, Items { traces: 2, logs: 4 });
    assert_eq!(evicted(spool.lost()), (6, 1));
    assert_eq!(spool.figures().bytes, 3 * BLOCK);
    assert_eq!(next(&spool).unwrap().bytes, "four");
}

#[test]
fn what_is_being_sent_keeps_its_room() {
    let scratch = Scratch::new();
    let spool = scratch.open(2 * BLOCK);
    spool.put(&traces(1, b"one")).unwrap();
    spool.put(&traces(2, b"two")).unwrap();
    let one = next(&spool).unwrap();
    spool.put(&traces(4, b"three")).unwrap();
    assert_eq!(evicted(spool.lost()), (2, 0));
    let three = next(&spool).unwrap();
    let refused = spool.put(&traces(8, b"four")).unwrap_err();
    assert_eq!(refused.reason, Reason::NoSpace);
    assert_eq!(refused.to_string(), "requests in flight take the whole limit of the spool");
    one.done();
    spool.put(&traces(8, b"four")).unwrap();
    three.back();
    assert_eq!(drain(&spool), ["three", "four"]);
}

#[test]
fn what_is_larger_than_all_of_it_is_refused_and_nothing_gives_way() {
    let scratch = Scratch::new();
    let spool = scratch.open(2 * BLOCK);
    spool.put(&traces(1, b"one")).unwrap();
    let refused = spool.put(&traces(1, &[0; 2 * BLOCK as usize])).unwrap_err();
    assert_eq!((refused.reason, spool.lost()), (Reason::TooLarge, Lost::default()));
    assert_eq!(refused.to_string(), "a request of 8232 bytes is too large for a spool of 8192");
    assert_eq!(drain(&spool), ["one"]);
}

#[test]
fn a_smaller_bound_holds_from_the_start() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    for text in ["one", "two", "three"] {
        spool.put(&traces(1, text.as_bytes())).unwrap();
    }
    let smaller = scratch.open(2 * BLOCK);
    assert_eq!(evicted(smaller.lost()), (0, 1));
    assert_eq!(drain(&smaller), ["two", "three"]);
}

#[test]
fn what_is_too_old_goes_and_is_counted_once() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let config = Settings { max_age: Duration::from_secs(10), ..scratch.config(PLENTY) };
    let spool = hands.open(config.clone());
    spool.put(&traces(1, b"one")).unwrap();
    spool.put(&logs(2, b"two")).unwrap();
    hands.forward(9 * SECOND);
    let one = next(&spool).unwrap();
    assert_eq!(spool.inner.age(&one.name).as_secs_f64().round(), 9.0);
    spool.put(&traces(4, b"three")).unwrap();
    hands.forward(2 * SECOND);
    // A request in flight stays.
    spool.put(&traces(8, b"four")).unwrap();
    assert_eq!(spool.lost().expired.ours, Items { traces: 0, logs: 2 });
    one.back();
    let another = hands.open(config);
    assert_eq!(another.lost().expired.others, Items { traces: 1, logs: 0 });
    assert_eq!(drain(&spool), ["three", "four"]);
    assert_eq!(spool.lost().expired.ours, Items { traces: 0, logs: 2 });
}

#[test]
fn what_becomes_too_old_while_it_waits_is_not_handed_out() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let spool = hands.open(Settings { max_age: Duration::from_secs(10), ..scratch.config(PLENTY) });
    spool.put(&traces(1, b"one")).unwrap();
    spool.put(&traces(2, b"two")).unwrap();
    next(&spool).unwrap().back();
    hands.forward(11 * SECOND);
    assert!(next(&spool).is_none());
    assert_eq!(spool.lost().expired.ours.traces, 3);
    assert_eq!(scratch.names().len(), 0);
}

#[test]
fn temporary_files_of_the_dead_are_cleared_and_those_of_the_living_are_not() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    let file = |name: &str| scratch.directory().join(name);
    fs::write(file("dead.tcspool.tmp"), "half").unwrap();
    fs::write(file("living.tcspool.tmp"), "half").unwrap();
    let living = fs::File::open(file("living.tcspool.tmp")).unwrap();
    assert!(file_lock::try_lock(&living).unwrap());
    spool.put(&traces(1, b"one")).unwrap();
    assert_eq!(scratch.names().iter().filter(|name| name.ends_with(".tmp")).count(), 1);
    assert_eq!(spool.figures().bytes, 2 * BLOCK, "what is being written takes room");
    drop(living);
    scratch.open(PLENTY);
    assert!(!file("living.tcspool.tmp").exists());
}

#[test]
fn what_another_process_removed_meanwhile_makes_room_too() {
    let scratch = Scratch::new();
    let spool = scratch.open(3 * BLOCK);
    for text in ["one", "two", "three"] {
        spool.put(&traces(1, text.as_bytes())).unwrap();
    }
    let mut listing = Listing::read(&scratch.directory()).unwrap();
    next(&scratch.open(PLENTY)).unwrap().done();
    let mut lost = Lost::default();
    assert!(spool.inner.keep_bounds(&mut listing, BLOCK, &mut lost));
    assert_eq!(lost, Lost::default());
    assert_eq!(drain(&spool), ["two", "three"]);
}
