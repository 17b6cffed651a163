//! Several processes on one directory, and processes that are killed.

use std::collections::BTreeSet;
use std::io::Read;

use super::program::{Program, role, say};
use super::*;

/// An upper bound of the length of a file in these tests, in bytes.
const LARGEST: u64 = 4 * 4096;

fn open(directory: PathBuf, bytes: u64) -> Spool {
    Spool::open(Settings { directory: directory.into(), max_bytes: bytes, max_age: LONG }).unwrap()
}

/// Makes a request that begins with a unique text.
fn body(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = format!("{text} ").into_bytes();
    bytes.resize(bytes.len() + random.below(LARGEST - 4096) as usize, b'.');
    bytes
}

fn text(claimed: &Claimed) -> String {
    String::from_utf8_lossy(&claimed.bytes).split(' ').next().unwrap().to_owned()
}

fn all(items: Tally) -> u64 {
    items.ours.traces + items.others.traces
}

/// Stores requests, and takes requests of this process and of other processes.
fn work(id: &str, directory: PathBuf, bytes: u64) {
    let spool = open(directory, bytes);
    let mut random = Random(0xfeed ^ u64::from(std::process::id()));
    for number in 0..100 {
        let name = format!("{id}-{number}");
        spool.put(&traces(1, &body(&name, &mut random))).unwrap();
        say(format_args!("put {name}"));
        let held = spool.figures().bytes;
        assert!(held <= bytes + WORKERS * LARGEST, "{held} bytes");
        match next(&spool) {
            Some(claimed) if number % 3 == 0 => {
                say(format_args!("took {}", text(&claimed)));
                claimed.done();
            }
            claimed => drop(claimed),
        }
    }
    let lost = spool.lost();
    assert_eq!((all(lost.expired), all(lost.damaged), lost.set_aside), (0, 0, 0));
    say(format_args!("evicted {}", all(lost.evicted)));
}

const WORKERS: u64 = 3;

/// Runs several processes at once. Returns the requests that they stored and took, and the number evicted.
fn have_worked(test: &str, scratch: &Scratch, bytes: u64) -> (BTreeSet<String>, Vec<String>, u64) {
    let workers: Vec<_> =
        (0..WORKERS).map(|id| Program::start(test, &format!("worker{id}"), &scratch.directory())).collect();
    let said: Vec<_> = workers.into_iter().flat_map(Program::finish).collect();
    let of = |what: &str| said.iter().filter_map(|line| line.strip_prefix(what)).map(str::to_owned).collect::<Vec<_>>();
    let mut took = of("took ");
    let evicted: u64 = of("evicted ").iter().map(|number| number.parse::<u64>().unwrap()).sum();
    let spool = open(scratch.directory(), bytes);
    while let Some(claimed) = next(&spool) {
        took.push(text(&claimed));
        claimed.done();
    }
    let put = of("put ");
    assert_eq!(put.len() as u64, WORKERS * 100);
    assert!(said.iter().any(|line| line.starts_with("took ")));
    assert_eq!(scratch.names(), Vec::<String>::new());
    assert_eq!(spool.lost().set_aside, 0);
    (put.into_iter().collect(), took, evicted + all(spool.lost().evicted))
}

#[test]
fn several_processes_lose_nothing_and_take_nothing_twice() {
    if let Some((id, directory)) = role() {
        return work(&id, directory, PLENTY);
    }
    let scratch = Scratch::new();
    let (put, took, evicted) =
        have_worked("processes::several_processes_lose_nothing_and_take_nothing_twice", &scratch, PLENTY);
    assert_eq!(evicted, 0);
    assert_eq!(took.len(), put.len());
    assert_eq!(took.into_iter().collect::<BTreeSet<_>>(), put);
}

#[test]
fn several_processes_keep_one_bound_and_count_each_loss_once() {
    let bytes = 10 * LARGEST;
    if let Some((id, directory)) = role() {
        return work(&id, directory, bytes);
    }
    let scratch = Scratch::new();
    let (put, took, evicted) =
        have_worked("processes::several_processes_keep_one_bound_and_count_each_loss_once", &scratch, bytes);
    assert!(evicted > 0);
    assert_eq!(took.len() as u64 + evicted, put.len() as u64);
    let once: BTreeSet<_> = took.iter().cloned().collect();
    assert_eq!(once.len(), took.len());
    assert!(once.is_subset(&put));
}

#[test]
fn a_claim_ends_with_its_process() {
    if let Some((_, directory)) = role() {
        let spool = open(directory, PLENTY);
        let claimed = next(&spool).unwrap();
        say(text(&claimed));
        // Runs until it is killed.
        let _ = std::io::stdin().read(&mut [0]);
        return claimed.done();
    }
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    let mut other = Program::start("processes::a_claim_ends_with_its_process", "claimer", &scratch.directory());
    assert_eq!(other.line().unwrap(), "one");
    assert!(next(&spool).is_none());
    other.kill();
    assert_eq!(drain(&spool), ["one"]);
}

#[test]
fn what_was_put_before_a_kill_is_there() {
    if let Some((id, directory)) = role() {
        return put_until_killed(&id, directory);
    }
    let scratch = Scratch::new();
    let mut random = Random(0xdead);
    let (mut put, mut took) = (BTreeSet::new(), Vec::new());
    let mut temporary = 0;
    for round in 0..25 {
        let name = "processes::what_was_put_before_a_kill_is_there";
        let mut program = Program::start(name, &format!("writer{round}"), &scratch.directory());
        let mut said: Vec<_> = (0..1 + random.below(8)).map(|_| program.line().unwrap()).collect();
        // Kills it at any point of its work.
        std::thread::sleep(Duration::from_micros(random.below(3_000)));
        said.extend(program.kill());
        put.extend(said.iter().filter_map(|line| line.strip_prefix("put ")).map(str::to_owned));
        took.extend(said.iter().filter_map(|line| line.strip_prefix("took ")).map(str::to_owned));
        temporary += scratch.names().iter().filter(|name| name.ends_with(".tmp")).count();
    }
    assert!(put.len() >= 25);
    let spool = scratch.open(PLENTY);
    assert!(!scratch.names().iter().any(|name| name.ends_with(".tmp")));
    let found: Vec<_> = std::iter::from_fn(|| next(&spool)).collect();
    assert!(next(&spool).is_none());
    assert_eq!(spool.figures().files, found.len() as u64);
    assert_eq!((spool.figures().set_aside, spool.lost()), (0, Lost::default()));
    let there: BTreeSet<_> = found.iter().map(text).chain(took).collect();
    let missing: Vec<_> = put.difference(&there).collect();
    assert!(missing.is_empty(), "{missing:?} of {}", put.len());
    println!("{} put, {} found, {temporary} temporary files left by the killed", put.len(), found.len());
}

/// Prints each request after it is stored; prints each request that it takes before removing it.
fn put_until_killed(id: &str, directory: PathBuf) {
    let spool = open(directory, PLENTY);
    let mut random = Random(0xbeef ^ u64::from(std::process::id()));
    for number in 0.. {
        let name = format!("{id}-{number}");
        spool.put(&traces(1, &body(&name, &mut random))).unwrap();
        say(format_args!("put {name}"));
        if number % 4 == 3
            && let Some(claimed) = next(&spool)
        {
            say(format_args!("took {}", text(&claimed)));
            claimed.done();
        }
    }
}
