//! Errors that GPUs report.

use crate::kit::{Bench, logged, of, up, xids};

#[test]
fn an_xid_is_counted_with_its_time_and_a_rare_one_is_other() {
    let mut bench = Bench::new("");
    let number = bench.until_watched(1, "");
    let events = format!("xid = {}:1:79 {}:1:79 {}:1:4711", number, number + 1, number + 2);
    bench.fake.script(&events).unwrap();
    let snapshot =
        bench.until("all are counted", |now| xids(now, "1", "79") == Some(2.0) && xids(now, "1", "other") == Some(1.0));
    assert_eq!(xids(&snapshot, "0", "79"), None);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let last = of(&snapshot, "tc_gpu_xid_last_timestamp_seconds", "1").unwrap();
    assert!(last <= now && now - last < 3600.0);
    assert_eq!(of(&snapshot, "tc_gpu_xid_last_timestamp_seconds", "0"), None);
}

#[test]
fn a_gpu_that_refuses_events_takes_none_from_the_others() {
    let refusal = "gpu0.fail.nvmlDeviceRegisterEvents = 3";
    let mut bench = Bench::new(refusal);
    let number = bench.until_watched(1, refusal);
    bench.fake.script(&format!("{refusal}; xid = {}:0:48 {}:1:48", number, number + 1)).unwrap();
    let snapshot = bench.until("it is counted", |now| xids(now, "1", "48") == Some(1.0));
    assert_eq!(xids(&snapshot, "0", "48"), None);
    bench.until("it is up all the same", |now| up(now, "0") == Some(1.0));
}

#[test]
fn xids_are_seen_again_after_a_gpu_was_lost() {
    let mut bench = Bench::new("");
    let next = bench.until_watched(0, "");
    bench.fake.script("gpu0.fail = 15").unwrap();
    bench.until("it is lost", |now| up(now, "0") == Some(0.0));
    let before = xids(&bench.watched.snapshot(), "0", "13");
    bench.fake.script("").unwrap();
    bench.until("it is back", |now| up(now, "0") == Some(1.0));
    bench.until_reported(next, |number| format!("xid = {number}:0:13"), |now| xids(now, "0", "13") != before);
}

#[test]
fn a_gpu_that_sleeps_is_not_asked_for_xids_until_it_wakes() {
    let (mut bench, status) = Bench::that_can_sleep(0, "");
    let first = bench.until_watched(0, "");
    status("suspended\n");
    bench.until("it sleeps", |now| of(now, "tc_gpu_asleep", "0") == Some(1.0));
    let count = |now: &_| xids(now, "0", "79").unwrap_or_default();
    // One that comes during the last wait is seen; of all that come after it none is.
    let mut is_left = |number| {
        let before = count(&bench.watched.snapshot());
        bench.through_samples_of(1, &format!("xid = {number}:0:79"), |now| count(now) == before)
    };
    assert!((first..first + 3).any(&mut is_left), "it is asked");
    let before = count(&bench.watched.snapshot());
    status("active\n");
    bench.until("it is seen then", |now| count(now) == before + 1.0);
}

#[test]
fn a_storm_is_counted_whole_and_logged_once() {
    let mut bench = Bench::new("");
    let first = bench.until_watched(1, "");
    let start = std::time::Instant::now();
    bench.fake.script(&format!("xid = {first}-{}:1:145 {}:1:79", first + 2999, first + 3000)).unwrap();
    let snapshot = bench.until("the last one is counted", |now| xids(now, "1", "79") == Some(1.0));
    println!("3,000 XIDs took {:?}", start.elapsed());
    assert_eq!(xids(&snapshot, "1", "145"), Some(3000.0));
    assert_eq!(logged("XID 145"), ["GPU 1 reported XID 145 (NVLink: RLW error)"]);
    assert_eq!(logged("XID 79"), ["GPU 1 reported XID 79 (GPU has fallen off the bus)"]);
    bench.monitor.take().unwrap().shutdown();
    assert_eq!(logged("XID 145")[1..], ["GPU 1 reported XID 145 (NVLink: RLW error) 2999 more times"]);
}
