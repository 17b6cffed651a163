//! Clocks that are set back or ahead.

use super::*;

const HOUR: u64 = 3600 * SECOND;

fn text(claimed: &Claimed) -> &str {
    std::str::from_utf8(&claimed.bytes).unwrap()
}

#[test]
fn a_small_step_back_does_not_change_the_order() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let spool = hands.open(scratch.config(PLENTY));
    for text in ["one", "two", "three"] {
        spool.put(&traces(1, text.as_bytes())).unwrap();
        hands.0.fetch_sub(SECOND, Relaxed);
    }
    assert_eq!(text(&next(&spool).unwrap()), "one");
    assert_eq!(spool.inner.age(&next(&spool).unwrap().name), Duration::ZERO);
    assert_eq!(drain(&spool), ["one", "two", "three"]);
}

#[test]
fn files_from_the_future_count_as_written_now() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let config = Settings { max_age: Duration::from_secs(3600), ..scratch.config(PLENTY) };
    let ahead = hands.open(config.clone());
    ahead.put(&traces(1, b"one")).unwrap();
    ahead.put(&traces(1, b"two")).unwrap();
    hands.0.fetch_sub(1000 * HOUR, Relaxed);
    ahead.put(&traces(1, b"three")).unwrap();

    let spool = hands.open(config);
    hands.forward(HOUR / 2);
    let claimed: Vec<_> = std::iter::from_fn(|| next(&spool)).collect();
    // The third request was written at the same time, before the files of the others were found to be from the future.
    let mut texts: Vec<_> = claimed.iter().map(text).collect();
    let place = |of: &str| texts.iter().position(|text| *text == of).unwrap();
    assert!(place("one") < place("two"));
    texts.sort_unstable();
    assert_eq!(texts, ["one", "three", "two"]);
    assert!(
        claimed.iter().all(|claimed| spool.inner.age(&claimed.name) <= Duration::from_secs(1800)),
        "they age like others"
    );
    claimed.into_iter().for_each(Claimed::back);

    hands.forward(HOUR);
    assert!(next(&spool).is_none());
    assert_eq!(spool.lost().expired.others.traces, 3);
    assert_eq!(spool.lost().set_aside, 0);
}

#[test]
fn a_file_from_the_future_that_is_being_sent_is_not_renamed() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let spool = hands.open(scratch.config(PLENTY));
    spool.put(&traces(1, b"one")).unwrap();
    let one = next(&spool).unwrap();
    hands.0.fetch_sub(1000 * HOUR, Relaxed);
    spool.put(&traces(1, b"two")).unwrap();
    one.done();
    assert_eq!(drain(&hands.open(scratch.config(PLENTY))), ["two"]);
}
