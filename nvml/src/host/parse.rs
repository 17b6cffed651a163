//! Parses files of `/proc` and of cgroups. A value that is missing, truncated or not a number is `None`.

/// Returns the number after `key`, up to the end of the line: `nr_periods 100`, `Threads: 5`.
pub(super) fn number(text: &str, key: &str) -> Option<u64> {
    rest(text, key)?.parse().ok()
}

/// Returns the bytes after `key`: `MemTotal: 1024 kB`.
pub(super) fn bytes(text: &str, key: &str) -> Option<u64> {
    rest(text, key)?.strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the text after `key`. A line without a line break is ignored: it is truncated and may lack digits.
fn rest<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_inclusive('\n').find_map(|line| {
        let rest = line.strip_suffix('\n')?.strip_prefix(key)?;
        Some(rest.strip_prefix(':').or_else(|| rest.strip_prefix(' '))?.trim())
    })
}

/// Parses the only number of a file.
pub(super) fn only(text: &str) -> Option<u64> {
    text.strip_suffix('\n')?.trim().parse().ok()
}

/// The number of CPU modes in `/proc/stat`: user, nice, system, idle, iowait, interrupts, steal.
pub(super) const MODES: usize = 7;

/// Returns the ticks of all CPUs, by mode. Old kernels have fewer modes.
pub(super) fn cpu_ticks(stat: &str) -> [Option<u64>; MODES] {
    ticks(rest(stat, "cpu").unwrap_or_default())
}

/// Parses the columns of one line of `/proc/stat`, by mode.
pub(super) fn ticks(columns: &str) -> [Option<u64>; MODES] {
    let mut columns = columns.split_whitespace();
    let mut next = || columns.next()?.parse::<u64>().ok();
    let [user, nice, system, idle, iowait, hard, soft, steal] = std::array::from_fn(|_| next());
    let interrupts = hard.zip(soft).and_then(|(hard, soft)| hard.checked_add(soft));
    [user, nice, system, idle, iowait, interrupts, steal]
}

/// Counts the CPUs in a list: `0-3,8` is 5.
pub(super) fn cpus(online: &str) -> Option<u64> {
    let count = |range: &str| -> Option<u64> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    let list = online.strip_suffix('\n')?.split(',');
    list.map(count).try_fold(0_u64, |sum, count| sum.checked_add(count?))
}

/// Returns the ticks of the process in user and in system mode.
pub(super) fn process_ticks(stat: &str) -> Option<(u64, u64)> {
    // The name of the process is in parentheses and may contain parentheses.
    let (_, rest) = stat.strip_suffix('\n')?.rsplit_once(')')?;
    let mut columns = rest.split_whitespace().skip(11);
    Some((columns.next()?.parse().ok()?, columns.next()?.parse().ok()?))
}

/// Returns the limit of open files: `Max open files  1024  4096  files`. `None` without a limit.
pub(super) fn most_files(limits: &str) -> Option<u64> {
    rest(limits, "Max open files")?.split_whitespace().next()?.parse().ok()
}

/// Returns the microseconds for which `some` tasks waited, or all of them (`full`):
/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=12`.
pub(super) fn stall(pressure: &str, who: &str) -> Option<u64> {
    rest(pressure, who)?.rsplit_once("total=")?.1.parse().ok()
}

/// Returns the memory that is available without swapping.
pub(super) fn available(meminfo: &str) -> Option<u64> {
    let key = "MemAvailable";
    if rest(meminfo, key).is_some() {
        return bytes(meminfo, key);
    }
    // Kernels before 3.14 lack the line; `free` used this sum instead.
    ["MemFree", "Buffers", "Cached"].iter().try_fold(0_u64, |sum, key| sum.checked_add(bytes(meminfo, key)?))
}

/// Returns the machine's memory by use, counted as by psutil and `free`: used (not available without swapping), free, buffers,
/// and cached (files and reclaimable slabs). `used` includes part of `cached`, such as files of a tmpfs.
pub(super) fn kinds(meminfo: &str) -> [Option<u64>; 4] {
    let [size, free, buffers, files, slabs] =
        ["MemTotal", "MemFree", "Buffers", "Cached", "SReclaimable"].map(|key| bytes(meminfo, key));
    let cached = || files?.checked_add(slabs?);
    let used = || size?.checked_sub(available(meminfo)?);
    [used(), free, buffers, cached()]
}

/// Parses a limit of cgroup v2: a number, or `max` for no limit, which gives `u64::MAX`.
pub(super) fn limit(text: &str) -> Option<u64> {
    if text == "max\n" { Some(u64::MAX) } else { only(text) }
}

/// Converts a limit of cgroup v1, where a number larger than any memory means no limit, which gives `u64::MAX`.
pub(super) fn limit_v1(limit: u64) -> u64 {
    if limit < 1 << 60 { limit } else { u64::MAX }
}

/// Returns the CPU limit of `cpu.max`: `200000 100000` is 2, `max 100000` is infinite.
pub(super) fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.strip_suffix('\n')?.split_once(' ')?;
    let period = period.parse().ok()?;
    if quota == "max" { Some(f64::INFINITY) } else { ratio(quota.parse().ok()?, period) }
}

/// Returns the CPU limit of a quota and a period of cgroup v1; a quota of -1 is infinite.
pub(super) fn quota_v1(quota: &str, period: &str) -> Option<f64> {
    let period = only(period)?;
    if quota == "-1\n" { Some(f64::INFINITY) } else { ratio(only(quota)?, period) }
}

fn ratio(quota: u64, period: u64) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// Returns the path of this process's cgroup for a controller; for an empty controller name, that of cgroup v2.
pub(super) fn cgroup<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.split_inclusive('\n').find_map(|line| {
        let mut parts = line.strip_suffix('\n')?.splitn(3, ':').skip(1);
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
        assert_eq!((limit("max\n"), limit("4096\n"), limit("ma"), limit("")), (Some(u64::MAX), Some(4096), None, None));
        assert_eq!((limit_v1(9_223_372_036_854_771_712), limit_v1(4096)), (u64::MAX, 4096));
        assert_eq!((quota("max 100000\n"), quota("150000 100000\n")), (Some(f64::INFINITY), Some(1.5)));
        assert_eq!((quota("5 0\n"), quota("max\n"), quota("max 1000"), quota("0 1000\n")), (None, None, None, None));
        assert_eq!(quota_v1("-1\n", "100000\n"), Some(f64::INFINITY));
        assert_eq!((quota_v1("50000\n", "100000\n"), quota_v1("-1", "100000\n")), (Some(0.5), None));
    }

    #[test]
    fn cpus_are_a_list_of_ranges() {
        assert_eq!((cpus("0\n"), cpus("0-1\n"), cpus("0-3,8,10-11\n")), (Some(1), Some(2), Some(7)));
        for text in ["0-1", "3-1\n", "0-\n", "-\n", "0,\n", "0-18446744073709551615\n"] {
            assert_eq!(cpus(text), None, "{text:?}");
        }
    }

    #[test]
    fn interrupts_are_of_two_columns() {
        let expected = [1, 2, 3, 4, 5, 6 + 7, 8].map(Some);
        assert_eq!(cpu_ticks("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"), expected);
        assert_eq!(cpu_ticks("cpu  1 2 3 4 5 18446744073709551615 7 8\n")[5], None);
    }

    #[test]
    fn memory_is_used_by_whom_the_rest_is_not() {
        let text =
            "MemTotal: 100 kB\nMemFree: 20 kB\nMemAvailable: 58 kB\nBuffers: 5 kB\nCached: 30 kB\nSReclaimable: 7 kB\n";
        assert_eq!(kinds(text), [42, 20, 5, 37].map(|kilobytes| Some(kilobytes * 1024)));
        // Without the slabs the cached memory is unknown; the available memory is computed from the other lines.
        let text = "MemTotal: 100 kB\nMemFree: 20 kB\nBuffers: 5 kB\nCached: 30 kB\n";
        assert_eq!(kinds(text), [Some(45 * 1024), Some(20 * 1024), Some(5 * 1024), None]);
        assert_eq!(kinds("MemTotal: 10 kB\nMemFree: 20 kB\nBuffers: 0 kB\nCached: 0 kB\n")[0], None);
    }

    #[test]
    fn stalls_and_limits_of_the_process() {
        let text = "some avg10=1.53 avg60=0.87 avg300=0.73 total=74\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n";
        assert_eq!((stall(text, "some"), stall(text, "full")), (Some(74), Some(8)));
        assert_eq!(stall(&text[..text.len() - 1], "full"), None);
        let line =
            |soft: &str| format!("Max open files            {soft}               524288               files     \n");
        assert_eq!((most_files(&line("1024")), most_files(&line("unlimited"))), (Some(1024), None));
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
