//! Formats points in time.

use std::fmt;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const SECONDS_PER_DAY: u64 = 86_400;

/// Nanoseconds since 1970, shown as RFC 3339 in UTC with microseconds: `2026-11-16T08:30:00.123456Z`.
pub(super) struct Rfc3339(pub(super) u64);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND / 1_000);
        let (year, month, day) = date(seconds / SECONDS_PER_DAY);
        let second = seconds % SECONDS_PER_DAY;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// Converts days since 1970 to year, month and day with Howard Hinnant's `civil_from_days`: years begin in March, so
/// that a leap day is the last day of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let check = |seconds: u64, expected: &str| {
            assert_eq!(Rfc3339(seconds * NANOS_PER_SECOND + 1_234_999).to_string(), format!("{expected}.001234Z"));
        };
        check(0, "1970-01-01T00:00:00");
        check(951_782_399, "2000-02-28T23:59:59");
        check(951_782_400, "2000-02-29T00:00:00");
        check(951_868_800, "2000-03-01T00:00:00");
        check(1_735_689_599, "2024-12-31T23:59:59");
        check(1_772_323_200, "2026-03-01T00:00:00");
        check(4_107_542_400, "2100-03-01T00:00:00");
        check(17_179_869_184, "2514-05-30T01:53:04");
    }
}
