//! HTTP methods: those in the conventions, and `_OTHER`.

use http::Method;

/// A method as spans and metrics record it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Verb(u8);

const TEXTS: [&str; Verb::COUNT] =
    ["_OTHER", "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

impl Verb {
    pub(crate) const COUNT: usize = 10;
    pub(crate) const OTHER: Verb = Verb(0);

    pub(crate) fn of(method: &Method) -> Self {
        let found = TEXTS.iter().skip(1).position(|text| *text == method.as_str());
        found.map_or(Verb::OTHER, |at| Verb(at as u8 + 1))
    }

    pub(crate) fn from_index(index: usize) -> Self {
        if index < Verb::COUNT { Verb(index as u8) } else { Verb::OTHER }
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The value of the attribute.
    pub(crate) fn text(self) -> &'static str {
        TEXTS.get(self.index()).copied().unwrap_or("_OTHER")
    }

    /// The beginning of a span's name.
    pub(crate) fn name(self) -> &'static str {
        if self == Verb::OTHER { "HTTP" } else { self.text() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, text: &str, name: &str) {
        let verb = Verb::of(&Method::from_bytes(method.as_bytes()).unwrap());
        assert_eq!((verb.text(), verb.name()), (text, name), "{method}");
        assert_eq!(Verb::from_index(verb.index()), verb);
    }

    #[test]
    fn a_method_is_one_of_nine_or_another() {
        TEXTS.iter().skip(1).for_each(|text| check(text, text, text));
        check("PROPFIND", "_OTHER", "HTTP");
        check("get", "_OTHER", "HTTP");
        check("_OTHER", "_OTHER", "HTTP");
        assert_eq!(Verb::from_index(99), Verb::OTHER);
    }
}
