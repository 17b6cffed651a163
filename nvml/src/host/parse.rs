//! What stands in files of `/proc` and of cgroups. What is missing, cut off or no number is `None`.

/// The number behind `key`, up to the end of its line: `nr_periods 100`, `Threads: 5`.
pub(super) fn number(text: &str, key: &str) -> Option<u64> {
    rest(text, key)?.parse().ok()
}

/// The bytes behind `key`: `MemTotal: 1024 kB`.
pub(super) fn bytes(text: &str, key: &str) -> Option<u64> {
    rest(text, key)?.strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
}

/// What stands behind `key`. A line without an end was cut off, and may lack digits.
fn rest<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_inclusive('\n').find_map(|line| {
        let rest = line.strip_suffix('\n')?.strip_prefix(key)?;
        Some(rest.strip_prefix(':').or_else(|| rest.strip_prefix(' '))?.trim())
    })
}

/// The only number of a file.
pub(super) fn only(text: &str) -> Option<u64> {
    text.strip_suffix('\n')?.trim().parse().ok()
}

/// How many columns of `/proc/stat` there are at most: user, nice, system, idle, iowait, irq, softirq, steal.
pub(super) const MODES: usize = 8;

/// Ticks of all CPUs, by mode. Old kernels know fewer modes.
pub(super) fn cpu_ticks(stat: &str) -> [Option<u64>; MODES] {
    let mut columns = rest(stat, "cpu").unwrap_or_default().split_whitespace();
    std::array::from_fn(|_| columns.next()?.parse().ok())
}

/// How many CPUs there are.
pub(super) fn cpus(stat: &str) -> Option<u64> {
    let is_cpu =
        |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let count = stat.lines().filter(is_cpu).count() as u64;
    (count > 0).then_some(count)
}

/// Ticks of the process, as user and as system.
pub(super) fn process_ticks(stat: &str) -> Option<(u64, u64)> {
    // The name of the process is in parentheses, and may have any in it.
    let (_, rest) = stat.strip_suffix('\n')?.rsplit_once(')')?;
    let mut columns = rest.split_whitespace().skip(11);
    Some((columns.next()?.parse().ok()?, columns.next()?.parse().ok()?))
}

/// Memory that can be had without swapping.
pub(super) fn available(meminfo: &str) -> Option<u64> {
    let sum = |keys: [&str; 3]| keys.iter().try_fold(0_u64, |sum, key| sum.checked_add(bytes(meminfo, key)?));
    // Kernels before 3.14 do not say; this is what `free` took for it.
    bytes(meminfo, "MemAvailable").or_else(|| sum(["MemFree", "Buffers", "Cached"]))
}

/// A limit of cgroup v2: a number, or `max` for none.
pub(super) fn limit(text: &str) -> Option<u64> {
    only(text)
}

/// A limit of cgroup v1, where a number that no memory reaches says that there is none.
pub(super) fn limit_v1(text: &str) -> Option<u64> {
    only(text).filter(|limit| *limit < 1 << 60)
}

/// How many CPUs `cpu.max` allows: `200000 100000` is 2.
pub(super) fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.strip_suffix('\n')?.split_once(' ')?;
    ratio(quota.parse().ok()?, period.trim().parse().ok()?)
}

/// How many CPUs a quota and a period of cgroup v1 allow; the quota is -1 for none.
pub(super) fn quota_v1(quota: &str, period: &str) -> Option<f64> {
    ratio(only(quota)?, only(period)?)
}

fn ratio(quota: u64, period: u64) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// The path of the cgroup that a controller has this process in; of cgroup v2 for the controller without a name.
pub(super) fn cgroup<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let is_it = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|path| is_it && path.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_key() {
        let text = "nr_periods 100\nnr_throttled 5\nThreads:\t7\n";
        assert_eq!(number(text, "nr_throttled"), Some(5));
        assert_eq!(number(text, "Threads"), Some(7));
        assert_eq!((number(text, "nr"), number(text, "throttled")), (None, None));
    }

    #[test]
    fn what_is_cut_off_is_not_a_smaller_number() {
        assert_eq!(number("nr_periods 100", "nr_periods"), None);
        assert_eq!(bytes("MemTotal:   24682416 kB\n", "MemTotal"), Some(24_682_416 * 1024));
        assert_eq!(bytes("MemTotal:   2468", "MemTotal"), None);
        assert_eq!(bytes("MemTotal:   2468\n", "MemTotal"), None);
        assert_eq!((only("123\n"), only("123"), only("")), (Some(123), None, None));
        assert_eq!(process_ticks("1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12"), None);
    }

    #[test]
    fn nonsense_is_nothing() {
        for text in ["", "\n", "\0\0\0", "cpu", "cpu x y\n", "max\n", "-1\n", "18446744073709551616\n", "ä\n", ")\n"] {
            assert_eq!(only(text), None, "{text:?}");
            assert_eq!(cpu_ticks(text), [None; MODES], "{text:?}");
            assert_eq!((process_ticks(text), quota(text), cgroup(text, "")), (None, None, None), "{text:?}");
            assert_eq!((available(text), cpus(text)), (None, None), "{text:?}");
        }
        assert_eq!(bytes("MemTotal: 18446744073709551615 kB\n", "MemTotal"), None);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 250 150 0\n";
        for name in ["(cat)", "(a (b) c)", "(:) S 1 2)", "()"] {
            assert_eq!(process_ticks(&format!("77 {name} {rest}")), Some((250, 150)), "{name}");
        }
    }

    #[test]
    fn limits_may_be_none() {
        assert_eq!((limit("max\n"), limit("4096\n")), (None, Some(4096)));
        assert_eq!((limit_v1("9223372036854771712\n"), limit_v1("4096\n")), (None, Some(4096)));
        assert_eq!((quota("max 100000\n"), quota("150000 100000\n"), quota("5 0\n")), (None, Some(1.5), None));
        assert_eq!((quota_v1("-1\n", "100000\n"), quota_v1("50000\n", "100000\n")), (None, Some(0.5)));
    }

    #[test]
    fn a_cgroup_is_found_by_its_controller() {
        let text = "4:memory:/a:b\n3:cpu,cpuacct:/c\n1:name=systemd:/s\n0::/d\n";
        assert_eq!(cgroup(text, "memory"), Some("/a:b"));
        assert_eq!(cgroup(text, "cpuacct"), Some("/c"));
        assert_eq!(cgroup(text, ""), Some("/d"));
        assert_eq!(cgroup(text, "pids"), None);
    }
}
