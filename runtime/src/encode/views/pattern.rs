//! Patterns of names: `*` matches any characters, `?` matches one.

/// Returns whether a text has wildcards.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut of) = (0, 0);
    // The position of the last star, and the position in the name up to which it matches.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(of) {
            Some('*') => {
                star = Some((of, at));
                of += 1;
            }
            Some(c) if *c == '?' || *c == name[at] => (at, of) = (at + 1, of + 1),
            _ => {
                let Some((stood, taken)) = star else { return false };
                star = Some((stood, taken + 1));
                (at, of) = (taken + 1, stood + 1);
            }
        }
    }
    pattern[of..].iter().all(|c| *c == '*')
}

/// Like `fits`, but ignores the case of ASCII letters, because names of instruments are case-insensitive.
pub(super) fn fits_ignoring_case(pattern: &str, name: &str) -> bool {
    fits(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("a*", "abc", true),
            ("a*", "bac", false),
            ("*c", "abc", true),
            ("a*c", "abcbc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("??", "ü-", true),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("a**", "a", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "`{pattern}` on `{name}`");
        }
        assert!(fits_ignoring_case("HTTP.*", "http.Server") && !fits("HTTP.*", "http.Server"));
    }
}
