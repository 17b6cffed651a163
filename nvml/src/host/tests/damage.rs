//! Damaged files: each value stays correct or becomes a gap.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tracecast::testing::{PointValue, capture};

use super::*;

/// A copy of recorded files that can be damaged.
struct Copy {
    root: PathBuf,
    files: Vec<PathBuf>,
    whole: Values,
}

impl Copy {
    fn of(name: &str) -> Self {
        static COPIES: AtomicU32 = AtomicU32::new(0);
        let number = COPIES.fetch_add(1, Relaxed);
        let root = std::env::temp_dir().join(format!("tracecast-host-{}-{number}", std::process::id()));
        let mut files = Vec::new();
        copy(&recorded(name), &root, &mut files);
        let whole = values(&Host::open(&root).read());
        assert!(!files.is_empty() && whole.iter().any(|(_, value)| value.is_some()));
        Copy { root, files, whole }
    }

    /// Damages each file in each of these ways, one after the other, and asserts that every value is correct or a gap.
    fn damage(&self, ways: impl Fn(&[u8]) -> Vec<Vec<u8>>) {
        let mut host = Host::open(&self.root);
        for path in &self.files {
            let whole = fs::read(path).unwrap();
            // Kept open, because some file systems flush a truncated file to disk when it is closed.
            let mut file = File::options().write(true).open(path).unwrap();
            for damaged in ways(&whole) {
                file.rewind().unwrap();
                file.write_all(&damaged).unwrap();
                file.set_len(damaged.len() as u64).unwrap();
                self.assert_right(&read_of(&mut host, path, &self.root), path, "damaged");
            }
            fs::write(path, whole).unwrap();
        }
        assert_eq!(values(&Host::open(&self.root).read()), self.whole);
    }

    fn assert_right(&self, reading: &Reading, path: &Path, how: &str) {
        for ((name, now), (_, whole)) in values(reading).iter().zip(&self.whole) {
            let text = || fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let is_right = now.is_none() || now == whole;
            assert!(is_right, "{name} is {now:?} and was {whole:?}; {how}: {}\n{:?}", path.display(), text());
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn copy(from: &Path, to: &Path, files: &mut Vec<PathBuf>) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target, files);
        } else {
            fs::write(&target, fs::read(&entry).unwrap()).unwrap();
            files.push(target);
        }
    }
}

/// All values of a reading, by name.
type Values = Vec<(&'static str, Option<f64>)>;

fn values(reading: &Reading) -> Values {
    let mut values = Vec::with_capacity(64);
    macro_rules! all {
        ($($of:ident.$field:ident),+) => {
            values.extend([$( (stringify!($field), reading.$of.$field.map(|value| value as f64)), )+])
        };
    }
    all!(machine.cpus, machine.memory, machine.available);
    all!(process.resident, process.virtual_size, process.threads, process.most_files);
    all!(container.memory, container.working_set, container.memory_limit, container.oom_kills, container.cpu_nanos);
    all!(container.cpu_quota, container.periods, container.throttled_periods, container.throttled_nanos);
    let mut list = |name, list: &[Option<u64>]| values.extend(list.iter().map(|of| (name, of.map(|of| of as f64))));
    list("cpu_ticks", &reading.machine.cpu_ticks);
    list("kinds", &reading.machine.kinds);
    list("process.cpu_ticks", &reading.process.cpu_ticks);
    list("stalls", reading.machine.stalls.as_flattened());
    list("container.stalls", reading.container.stalls.as_flattened());
    values
}

/// Reads only the values that depend on this kind of file, to save time.
fn read_of(host: &mut Host, path: &Path, root: &Path) -> Reading {
    if path.ends_with("mountinfo") {
        // `mountinfo` is read only when the cgroup is opened.
        host.cgroup = Cgroup::open(root);
    } else if !path.to_string_lossy().contains("cgroup") {
        return Reading { machine: host.machine.read(), process: host.process.read(), ..Reading::default() };
    }
    Reading { container: host.cgroup.read().0, ..Reading::default() }
}

#[test]
fn every_file_may_be_cut_anywhere() {
    for name in KERNELS {
        let copy = Copy::of(name);
        let mut host = Host::open(&copy.root);
        for path in &copy.files {
            let whole = fs::read(path).unwrap();
            let file = File::options().write(true).open(path).unwrap();
            for end in (0..whole.len()).rev() {
                file.set_len(end as u64).unwrap();
                copy.assert_right(&read_of(&mut host, path, &copy.root), path, "cut");
            }
            fs::write(path, whole).unwrap();
        }
        assert_eq!(values(&Host::open(&copy.root).read()), copy.whole);
    }
}

#[test]
fn every_file_may_be_empty_or_binary_or_huge() {
    for name in KERNELS {
        Copy::of(name).damage(|whole| {
            let binary: Vec<u8> = (0..=255).cycle().take(2000).collect();
            let mut behind_binary = binary.clone();
            behind_binary.extend_from_slice(whole);
            vec![
                Vec::new(),
                b"\n".to_vec(),
                vec![0; 4096],
                binary,
                behind_binary,
                vec![b'9'; 100_000],
                vec![b'\n'; 100_000],
            ]
        });
    }
}

#[test]
fn every_number_may_be_too_large() {
    for name in KERNELS {
        Copy::of(name).damage(|whole| {
            let text = String::from_utf8_lossy(whole);
            let parts: Vec<&str> = text.split_inclusive(|c: char| !c.is_ascii_digit()).collect();
            let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
            let numbers = (0..parts.len()).filter(|at| is_number(parts[*at]));
            let overflowing = |at: usize| {
                let mut parts = parts.clone();
                let larger = format!("99999999999999999999{}", parts[at]);
                parts[at] = &larger;
                parts.concat().into_bytes()
            };
            numbers.map(overflowing).collect()
        });
    }
}

#[test]
fn every_line_may_be_missing() {
    for name in KERNELS {
        Copy::of(name).damage(|whole| {
            let text = String::from_utf8_lossy(whole);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            // Without this line the kernel counts as an old one, for which the available memory is computed differently.
            let missing = (0..lines.len()).filter(|at| !lines[*at].starts_with("MemAvailable"));
            missing.map(|at| [&lines[..at], &lines[at + 1..]].concat().concat().into_bytes()).collect()
        });
    }
}

#[test]
fn every_file_may_vanish() {
    for name in KERNELS {
        let copy = Copy::of(name);
        for path in &copy.files {
            let mut host = Host::open(&copy.root);
            let whole = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            copy.assert_right(&host.read(), path, "gone while it is open");
            copy.assert_right(&Host::open(&copy.root).read(), path, "gone");
            fs::write(path, whole).unwrap();
        }
    }
}

#[test]
fn a_process_that_is_moved_is_followed() {
    let copy = Copy::of("written-v2-nested");
    let mut host = Host::open(&copy.root);
    assert_eq!(host.read().container.memory, Some(5_000_000));
    let other = copy.root.join("sys/fs/cgroup/other");
    fs::create_dir(&other).unwrap();
    for (name, text) in [("cgroup.events", "populated 1\n"), ("memory.current", "77\n"), ("memory.max", "99\n")] {
        fs::write(other.join(name), text).unwrap();
    }
    fs::write(copy.root.join("proc/self/cgroup"), "0::/other\n").unwrap();
    let container = host.read().container;
    assert_eq!((container.memory, container.memory_limit), (Some(77), Some(99)));
}

#[test]
fn counters_of_a_process_that_is_moved_neither_jump_nor_stand_still() {
    let copy = Copy::of("written-v2-nested");
    let folders = ["more", "less"].map(|name| copy.root.join("sys/fs/cgroup").join(name));
    let write = |folder: &Path, micros: u64| {
        fs::write(folder.join("cpu.stat"), format!("usage_usec {micros}\n")).unwrap();
    };
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("cgroup.events"), "populated 1\n").unwrap();
    }
    let mut host = Host::open(&copy.root);
    let mut used = Vec::new();
    let captured = capture(|| {
        host.sample(Names::Tracecast);
        // The first cgroup has used far more CPU time than the one before it, the second far less.
        for (folder, micros) in folders.iter().zip([900_000_000, 1_000_000]) {
            write(folder, micros);
            let name = folder.file_name().unwrap().to_string_lossy();
            fs::write(copy.root.join("proc/self/cgroup"), format!("0::/{name}\n")).unwrap();
            let reading = host.read();
            show::counters(Names::Tracecast, &reading, &mut host.totals);
            used.push(reading.cpus_used);
            write(folder, micros + 2_000_000);
            host.sample(Names::Tracecast);
        }
    });
    assert_eq!(used, [None, None]);
    let metric = captured.metrics.iter().find(|metric| metric.name == "tc_container_cpu_seconds_total").unwrap();
    let [point] = metric.points.as_slice() else { panic!("{metric:?}") };
    assert!(matches!(point.value, PointValue::F64(seconds) if seconds == 4.0), "{point:?}");
}
