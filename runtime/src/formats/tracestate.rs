//! `tracestate` of W3C Trace Context, with the keys of level 2: data of tracing systems that travels with a trace.

use std::sync::Arc;

use super::trim_text;

/// The largest number of members.
const MEMBERS: usize = 32;
/// The largest number of bytes that are kept. The specification requires participants to propagate at least as many.
const BYTES: usize = 512;
/// Members of more than this number of bytes are removed first if the list is too long.
const LONG: usize = 128;
/// The largest number of bytes that are read. The longest valid list without whitespace has about half as many.
const READ: usize = 32 * 1024;
/// The longest key, and the longest value.
const PART: usize = 256;

/// A list of valid members in one text of at most 512 bytes, without whitespace between members. The list may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceState(Option<Arc<str>>);

impl TraceState {
    /// Parses the values of all headers, in their order. One invalid member makes the whole list empty, because members may
    /// depend on each other. A list of more than 32 members or 32 KiB also becomes empty. Two things are tolerated: from a list
    /// of more than 512 bytes whole members are removed, and of several members with the same key only the first one, the
    /// newest, is kept.
    pub(crate) fn parse<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut lines = lines.into_iter().peekable();
        // Most requests have no `tracestate`: this skips zeroing the array of members.
        if lines.peek().is_none() {
            return TraceState::default();
        }
        let Some(mut members) = Members::parse(lines) else { return TraceState::default() };
        members.fit(BYTES);
        members.join("")
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    #[cfg(test)]
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.members()
            .filter_map(|member| member.split_once('='))
            .find_map(|(found, value)| (found == key).then_some(value))
    }

    /// Puts this member first, removes the member with the same key, and removes other members if the list becomes too long.
    /// Returns `None` if the specification forbids the key or the value, or the new member alone is too long.
    #[cfg(test)]
    pub(crate) fn with(&self, key: &str, value: &str) -> Option<Self> {
        let legal = is_key(key) && is_value(value) && !value.ends_with(' ');
        let own = legal.then(|| format!("{key}={value}")).filter(|own| own.len() <= BYTES)?;
        let mut others = Members::default();
        for member in self.members().filter(|member| key_of(member) != key).take(MEMBERS - 1) {
            others.push(member);
        }
        others.fit((BYTES - own.len()).saturating_sub(1));
        Some(others.join(&own))
    }

    #[cfg(test)]
    fn members(&self) -> impl Iterator<Item = &str> {
        self.as_str().split(',').filter(|member| !member.is_empty())
    }
}

#[derive(Default)]
struct Members<'a> {
    list: [&'a str; MEMBERS],
    len: usize,
}

impl<'a> Members<'a> {
    fn parse(lines: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut members = Members::default();
        let mut read = 0_usize;
        for line in lines {
            read = read.saturating_add(line.len()).saturating_add(1);
            if read > READ {
                return None;
            }
            let line = std::str::from_utf8(line).ok()?;
            // Joining headers, one of which is empty, results in empty members.
            for member in line.split(',').map(trim_text).filter(|member| !member.is_empty()) {
                let (key, value) = member.split_once('=')?;
                if !is_key(key) || !is_value(value) {
                    return None;
                }
                let repeated = members.all().iter().any(|other| key_of(other) == key);
                if !repeated && !members.push(member) {
                    return None;
                }
            }
        }
        Some(members)
    }

    fn all(&self) -> &[&'a str] {
        &self.list[..self.len]
    }

    fn push(&mut self, member: &'a str) -> bool {
        let Some(place) = self.list.get_mut(self.len) else { return false };
        *place = member;
        self.len += 1;
        true
    }

    /// Removes whole members from the end until the list fits into `bytes`: first members longer than `LONG`, then any.
    fn fit(&mut self, bytes: usize) {
        let mut length = self.all().iter().map(|member| member.len() + 1).sum::<usize>().saturating_sub(1);
        for longer_than in [LONG, 0] {
            for at in (0..self.len).rev() {
                if length > bytes && self.list[at].len() > longer_than {
                    length = length.saturating_sub(self.list[at].len() + 1);
                    self.list.copy_within(at + 1..self.len, at);
                    self.len -= 1;
                }
            }
        }
    }

    fn join(&self, first: &str) -> TraceState {
        let mut text = String::with_capacity(BYTES);
        text.push_str(first);
        for member in self.all() {
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(member);
        }
        TraceState((!text.is_empty()).then(|| text.into()))
    }
}

fn key_of(member: &str) -> &str {
    member.split_once('=').map_or(member, |(key, _)| key)
}

/// Returns whether a key is valid. Level 1 allowed one `@` with a length limit for each side; in level 2 `@` is an ordinary
/// character.
fn is_key(key: &str) -> bool {
    let first = key.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
    let legal = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    first && key.len() <= PART && key.bytes().all(legal)
}

/// Returns whether a value is valid. Leading spaces belong to the value; the caller has trimmed trailing spaces.
fn is_value(value: &str) -> bool {
    let legal = |byte| matches!(byte, b' '..=b'~') && byte != b',' && byte != b'=';
    (1..=PART).contains(&value.len()) && value.bytes().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> TraceState {
        TraceState::parse(lines.iter().map(|line| line.as_bytes()))
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        let state = parse(lines);
        assert_eq!(state.as_str(), expected, "{lines:?}");
        assert_eq!(state.is_empty(), expected.is_empty());
    }

    fn list(members: std::ops::RangeInclusive<usize>) -> String {
        members.map(|n| format!("bar{n:02}={n:02}")).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn values_keep_their_leading_spaces_only() {
        check(&["foo=  1 \t, bar = 2"], "");
        check(&["foo=  1 \t,\tbar=2\t"], "foo=  1,bar=2");
        check(&["foo=   "], "");
        check(&["foo=a\tb"], "");
        assert_eq!(parse(&["foo=  1"]).get("foo"), Some("  1"));
    }

    #[test]
    fn empty_members_do_not_count() {
        check(&[",", " , ,\t", ""], "");
        check(&[",foo=1,, ,bar=2,", "", "baz=3"], "foo=1,bar=2,baz=3");
        let padded = list(1..=32).replace(',', ",,");
        check(&[&padded], &list(1..=32));
    }

    #[test]
    fn values_have_up_to_256_characters() {
        let long = format!("foo={}", "x".repeat(256));
        check(&[&long], &long);
        check(&[&format!("{long}x")], "");
    }

    #[test]
    fn a_member_that_is_not_ascii_invalidates_the_list() {
        check(&["foo=1,bar=é"], "");
        check(&["foo=1,é=2"], "");
        check(&["foo=1,bar=\u{7f}"], "");
        assert!(TraceState::parse([b"foo=1".as_slice(), b"bar=\xff"]).is_empty());
    }

    #[test]
    fn too_many_bytes_cost_long_members_first_and_then_the_last() {
        let (long, short) = (format!("long={}", "x".repeat(200)), format!("short={}", "x".repeat(100)));
        let filling: Vec<_> = (0..5).map(|n| format!("f{n}={}", "x".repeat(90))).collect();
        check(&[&long, &short, "tail=1"], &format!("{long},{short},tail=1"));
        check(&[&long, &filling.join(","), "tail=1"], &format!("{},tail=1", filling.join(",")));
        check(&[&short, &filling.join(",")], &format!("{short},{}", filling[..4].join(",")));
        let (just, over) = (format!("a={}", "x".repeat(126)), format!("b={}", "x".repeat(127)));
        check(&[&over, &list(1..=30), &just], &format!("{},{just}", list(1..=30)));
        let exact = format!("a={},b={}", "x".repeat(252), "x".repeat(255));
        assert_eq!(exact.len(), BYTES);
        check(&[&exact], &exact);
        check(&[&format!("{exact}x")], &exact[..254]);
    }

    #[test]
    fn a_member_longer_than_everything_is_left_out() {
        check(&[&format!("{}={}", "k".repeat(256), "v".repeat(256)), "foo=1"], "foo=1");
        check(&[&format!("{}={}", "k".repeat(256), "v".repeat(256))], "");
    }

    #[test]
    fn endless_headers_are_not_read() {
        check(&["foo=1", &" ".repeat(READ)], "");
        check(&[&",".repeat(READ)], "");
        assert!(TraceState::parse(std::iter::repeat_n(b"".as_slice(), READ + 1)).is_empty());
        assert!(TraceState::parse(std::iter::repeat(b"".as_slice())).is_empty());
    }

    #[test]
    fn a_new_member_goes_to_the_front() {
        let state = parse(&["foo=1,bar=2"]);
        assert_eq!(state.with("baz", "3").unwrap().as_str(), "baz=3,foo=1,bar=2");
        assert_eq!(state.with("bar", "9").unwrap().as_str(), "bar=9,foo=1");
        assert_eq!(TraceState::default().with("a@b", " x").unwrap().as_str(), "a@b= x");
        assert_eq!((state.get("bar"), state.get("ba"), state.get("")), (Some("2"), None, None));
    }

    #[test]
    fn a_member_that_is_not_allowed_is_not_added() {
        let state = parse(&["foo=1"]);
        let long = "x".repeat(257);
        for (key, value) in [("", "1"), ("Foo", "1"), ("@a", "1"), ("a.b", "1"), (&long, "1"), ("a", &long), ("a", "")]
        {
            assert_eq!(state.with(key, value), None, "{key}={value}");
        }
        for value in ["1 ", "1,b=2", "1=2", "é", "\t1"] {
            assert_eq!(state.with("a", value), None, "{value}");
        }
        assert_eq!(state.with(&"k".repeat(256), &"v".repeat(256)), None);
    }

    #[test]
    fn the_own_member_stays_and_others_give_way() {
        let full = parse(&[&list(1..=32)]);
        assert_eq!(full.with("own", "1").unwrap().as_str(), format!("own=1,{}", list(1..=31)));
        assert_eq!(full.with("bar32", "x").unwrap().as_str(), format!("bar32=x,{}", list(1..=31)));
        let long = "v".repeat(256);
        let state = full.with("own", &long).unwrap();
        assert_eq!(state.as_str(), format!("own={long},{}", list(1..=28)));
        assert_eq!(full.with(&"k".repeat(255), &long).unwrap().get("bar01"), None);
    }
}
