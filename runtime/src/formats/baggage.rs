//! W3C Baggage: key-value pairs that travel with a request.
//!
//! Members are stored as received, without whitespace, and decoded on access. So the encoding of the sender reaches the next
//! process unchanged.

use std::borrow::Cow;
use std::sync::Arc;

use super::{percent, trim, trim_text};

/// The largest number of members that are kept.
const MEMBERS: usize = 64;
/// The largest number of bytes that are kept.
const BYTES: usize = 8192;
/// Limits on reading, in bytes and in members. Members are limited in number because each is compared with all kept members.
const READ: usize = 2 * BYTES;
const COMPARED: usize = 4 * MEMBERS;

/// Valid members with different keys, in one text of at most 8,192 bytes, which may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Baggage(Option<Arc<str>>);

/// One member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub(crate) key: &'a str,
    encoded: &'a str,
    /// The properties as received: `a;b=1`, or empty.
    pub(crate) properties: &'a str,
}

impl<'a> Member<'a> {
    pub(crate) fn value(&self) -> Cow<'a, str> {
        percent::decode(self.encoded)
    }
}

impl Baggage {
    /// Parses the values of all headers, in their order, up to the limits on reading. Skips members that break the grammar and
    /// members that do not fit. Of several members with the same key, the last one replaces the others, in the place of the
    /// first one.
    pub(crate) fn parse<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut read = 0;
        // One byte more than the limit is read, which shows whether the last member is complete.
        let lines = lines.into_iter().map(|line| line.get(..=READ).unwrap_or(line));
        let pieces = lines.flat_map(|line| line.split(|byte| *byte == b',')).take_while(|piece| {
            read += piece.len() + 1;
            read <= READ
        });
        let mut members = [("", ""); MEMBERS];
        let mut len = 0;
        for (key, rest) in pieces.filter_map(valid).take(COMPARED) {
            let at = members[..len].iter().position(|(known, _)| *known == key).unwrap_or(len);
            if let Some(place) = members.get_mut(at) {
                *place = (key, rest);
                len = len.max(at + 1);
            }
        }
        let mut text = String::with_capacity(read.min(BYTES));
        for (key, rest) in &members[..len] {
            append(&mut text, |text| write(text, key, rest));
        }
        Baggage::of(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Member<'_>> {
        self.as_str().split(',').filter_map(|member| {
            let (key, rest) = member.split_once('=')?;
            let (encoded, properties) = rest.split_once(';').unwrap_or((rest, ""));
            Some(Member { key, encoded, properties })
        })
    }

    pub(crate) fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        self.iter().find(|member| member.key == key).map(|member| member.value())
    }

    /// Adds a member at the end, and removes the member with the same key. Returns `None` if the key is not a token or the
    /// member does not fit.
    pub(crate) fn with(&self, key: &str, value: &str) -> Option<Self> {
        // Encoding never shortens a value, so a value that is too long is refused before it is encoded.
        if !is_token(key) || key.len().saturating_add(value.len()) >= BYTES {
            return None;
        }
        let Baggage(others) = self.without(key);
        let mut text = others.as_deref().unwrap_or_default().to_owned();
        if text.split(',').filter(|member| !member.is_empty()).count() == MEMBERS {
            return None;
        }
        let fits = append(&mut text, |text| {
            text.push_str(key);
            text.push('=');
            percent::encode(value, text);
        });
        fits.then(|| Baggage::of(text))
    }

    pub(crate) fn without(&self, key: &str) -> Self {
        if self.iter().all(|member| member.key != key) {
            return self.clone();
        }
        let rest: Vec<&str> = self.as_str().split(',').filter(|member| key_of(member) != key).collect();
        Baggage::of(rest.join(","))
    }

    fn of(text: String) -> Self {
        Baggage((!text.is_empty()).then(|| text.into()))
    }
}

/// Adds the text of one member, which `member` writes. If the text becomes too long, removes the member again and returns false.
fn append(text: &mut String, member: impl FnOnce(&mut String)) -> bool {
    let before = text.len();
    if before > 0 {
        text.push(',');
    }
    member(text);
    let fits = text.len() <= BYTES;
    if !fits {
        text.truncate(before);
    }
    fits
}

/// Splits a member into its key and the part after `=`. Returns `None` if the member breaks the grammar.
fn valid(member: &[u8]) -> Option<(&str, &str)> {
    let (key, rest) = std::str::from_utf8(trim(member)).ok()?.split_once('=')?;
    let key = trim_text(key);
    let mut parts = rest.split(';').map(trim_text);
    let value = parts.next()?;
    let legal = is_token(key) && value.bytes().all(is_octet) && parts.all(|part| part.is_empty() || is_property(part));
    legal.then_some((key, rest))
}

/// Writes a valid member without whitespace and without empty properties.
fn write(text: &mut String, key: &str, rest: &str) {
    text.push_str(key);
    text.push('=');
    for (at, part) in rest.split(';').map(trim_text).enumerate() {
        if at > 0 && !part.is_empty() {
            text.push(';');
        }
        // In a valid part only the `=` of a property may have whitespace around it.
        part.split([' ', '\t']).for_each(|piece| text.push_str(piece));
    }
}

fn key_of(member: &str) -> &str {
    member.split_once('=').map_or(member, |(key, _)| key)
}

fn is_property(part: &str) -> bool {
    match part.split_once('=') {
        Some((key, value)) => is_token(trim_text(key)) && trim_text(value).bytes().all(is_octet),
        None => is_token(part),
    }
}

fn is_token(key: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !key.is_empty() && key.bytes().all(legal)
}

fn is_octet(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~') && !matches!(byte, b'"' | b',' | b';' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> Baggage {
        Baggage::parse(lines.iter().map(|line| line.as_bytes()))
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        let baggage = parse(lines);
        assert_eq!(baggage.as_str(), expected, "{lines:?}");
        assert_eq!(parse(&[expected]), baggage);
    }

    fn list(members: std::ops::Range<usize>) -> String {
        members.map(|n| format!("k{n}={n}")).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn the_examples_of_the_specification_are_read() {
        let example = "key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue";
        let canonical = "key1=value1;property1;property2,key2=value2,key3=value3;propertyKey=propertyValue";
        check(&[example], canonical);
        check(
            &["userId =   alice", "serverNode = DF%2028, isProduction = false"],
            "userId=alice,serverNode=DF%2028,isProduction=false",
        );
        let baggage = parse(&[example]);
        let members: Vec<_> = baggage.iter().map(|member| (member.key, member.value(), member.properties)).collect();
        assert_eq!(members[0], ("key1", "value1".into(), "property1;property2"));
        assert_eq!(members[1], ("key2", "value2".into(), ""));
        assert_eq!(members[2], ("key3", "value3".into(), "propertyKey=propertyValue"));
        assert_eq!(parse(&["serverNode=DF%2028"]).get("serverNode").unwrap(), "DF 28");
    }

    #[test]
    fn whitespace_is_legal_around_every_separator() {
        let spaced = "SomeKey \t = \t SomeValue \t ; \t P \t = \t V \t , \t SomeKey2 \t = \t SomeValue2 \t ; \t P2 \t ";
        check(&[spaced], "SomeKey=SomeValue;P=V,SomeKey2=SomeValue2;P2");
    }

    #[test]
    fn values_may_hold_equal_signs_and_may_be_empty() {
        check(&["a=b=c==;p=q=r"], "a=b=c==;p=q=r");
        check(&["a=,b= ;p="], "a=,b=;p=");
        assert_eq!(parse(&["a=b=c"]).get("a").unwrap(), "b=c");
        assert_eq!(parse(&["a="]).get("a").unwrap(), "");
    }

    #[test]
    fn empty_members_and_properties_are_skipped() {
        check(&[",", "", " ,\t, "], "");
        check(&[",a=1,, b=2;;p; ,"], "a=1,b=2;p");
    }

    #[test]
    fn a_member_that_breaks_the_grammar_is_left_out_alone() {
        for wrong in [
            "b", "=1", "b c=1", "b=1 2", "b=\"1\"", "b=1\\2", "é=1", "b=é", "(b)=1", "b=1;p q", "b=1;=2", "b=\u{1}",
            "b\n=1",
        ] {
            check(&[&format!("a=1,{wrong},c=3")], "a=1,c=3");
        }
        assert_eq!(Baggage::parse([b"a=1,b=\xff,c=3".as_slice()]).as_str(), "a=1,c=3");
    }

    #[test]
    fn the_last_of_two_values_counts() {
        check(&["a=1;p,b=2,a=3", "c=4"], "a=3,b=2,c=4");
        check(&["a=1", "A=2", "a=3"], "a=3,A=2");
        let full = format!("{},k0=last,k64=no", list(0..64));
        assert_eq!(parse(&[&full]).get("k0").unwrap(), "last");
        assert_eq!(parse(&[&full]).iter().count(), 64);
    }

    #[test]
    fn there_is_room_for_64_members_and_8192_bytes() {
        check(&[&list(0..64)], &list(0..64));
        check(&[&list(0..70)], &list(0..64));
        let exact = format!("a={}", "x".repeat(BYTES - 2));
        check(&[&exact], &exact);
        check(&[&format!("{exact}x"), "b=1"], "b=1");
        check(&[&exact, "b=1"], &exact);
        check(&["a=1", &exact[..BYTES - 3], "c=1"], &exact[..BYTES - 3]);
        let (a, b) = (&exact[..5000], exact[..5000].replace('a', "b"));
        check(&[a, &b, "c=1"], &format!("{a},c=1"));
    }

    #[test]
    fn endless_headers_are_not_read() {
        check(&["a=1", &",".repeat(READ), "b=2"], "a=1");
        check(&[&format!("a=1,{}=2", "b".repeat(READ))], "a=1");
        check(&[&" ".repeat(READ), "b=2"], "");
        let filling = |bytes: usize| [&",".repeat(bytes - 5), "b=2,"].concat();
        check(&[&filling(READ - 3), "c=3"], "b=2");
        check(&[&filling(READ - 4), "c=3"], "b=2,c=3");
        check(&[&filling(READ - 4), "c=33"], "b=2");
        check(&[&"a=1,".repeat(COMPARED - 1), "a=2", "a=3"], "a=2");
        assert!(Baggage::parse(std::iter::repeat(b"".as_slice())).is_empty());
    }

    #[test]
    fn members_encoded_by_python_are_decoded_and_forwarded_unchanged() {
        let baggage = parse(&["user+name=J%C3%BCrgen+M,plus=1%2B1,tilde=~a_b.c-d"]);
        assert_eq!(baggage.get("user+name").unwrap(), "Jürgen M");
        assert_eq!(baggage.get("plus").unwrap(), "1+1");
        assert_eq!(baggage.as_str(), "user+name=J%C3%BCrgen+M,plus=1%2B1,tilde=~a_b.c-d");
    }

    #[test]
    fn values_are_encoded_so_that_everybody_understands_them() {
        let baggage = parse(&["a=1;p,b=2"]).with("c", "x +é,;\"%").unwrap();
        assert_eq!(baggage.as_str(), "a=1;p,b=2,c=x%20%2B%C3%A9%2C%3B%22%25");
        assert_eq!(baggage.get("c").unwrap(), "x +é,;\"%");
        assert_eq!(baggage.with("a", "new").unwrap().as_str(), "b=2,c=x%20%2B%C3%A9%2C%3B%22%25,a=new");
        assert_eq!(baggage.without("a").without("c").as_str(), "b=2");
        assert!(baggage.without("a").without("b").without("c").is_empty());
    }

    #[test]
    fn a_member_that_is_not_allowed_or_too_much_is_not_added() {
        let baggage = parse(&["a=1"]);
        for key in ["", "a b", "a=b", "a,b", "é", "a;b", "\"a\""] {
            assert_eq!(baggage.with(key, "1"), None, "{key}");
        }
        assert_eq!(baggage.with("b", &"x".repeat(BYTES)), None);
        assert_eq!(baggage.with("b", &" ".repeat(BYTES / 3)), None);
        let full = parse(&[&list(0..64)]);
        assert_eq!(full.with("more", "1"), None);
        assert_eq!(full.with("k0", "again").unwrap().iter().count(), 64);
    }
}
