//! Case conversions of identifiers and names.

use crate::suggest;

/// A case conversion: one that `rename_all` accepts, or `Verbatim`.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Snake,
    Kebab,
    Camel,
    Pascal,
    ScreamingSnake,
    Lower,
    Upper,
    /// Leaves the name unchanged.
    Verbatim,
}

/// The values that `rename_all` accepts, and their conversions.
const CASES: [(&str, Case); 7] = [
    ("snake_case", Case::Snake),
    ("kebab-case", Case::Kebab),
    ("camelCase", Case::Camel),
    ("PascalCase", Case::Pascal),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
];

impl Case {
    /// Parses a `rename_all` value; the error lists the accepted values.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let found = CASES.iter().find(|(name, _)| *name == text);
        found.map(|(_, case)| *case).ok_or_else(|| suggest::unknown("case", text, &CASES.map(|(name, _)| name)))
    }

    /// Converts `name` to this case.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        match self {
            Self::Verbatim => name.to_owned(),
            Self::Snake => lower(&words).join("_"),
            Self::Kebab => lower(&words).join("-"),
            Self::Lower => lower(&words).concat(),
            Self::Upper => lower(&words).concat().to_uppercase(),
            Self::ScreamingSnake => lower(&words).join("_").to_uppercase(),
            Self::Pascal => words.iter().map(|word| capital(word)).collect(),
            Self::Camel => lower(&words[..words.len().min(1)])
                .into_iter()
                .chain(words.iter().skip(1).map(|word| capital(word)))
                .collect(),
        }
    }
}

/// Converts `load_replica` and `load-replica` to `LoadReplica`; capitals inside a word are kept.
pub(crate) fn upper_camel(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(|part| part[..1].to_ascii_uppercase() + &part[1..]).collect()
}

/// Returns whether `name` matches `[A-Z][A-Za-z0-9]*`.
pub(crate) fn is_upper_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
}

fn lower(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.to_lowercase()).collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).collect()
}

/// Splits a name into words, at `_`, `-` and other symbols, and before a capital that starts a word: `HTTPServer2` gives `HTTP`
/// and `Server2`.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let after_lower = i > 0 && !chars[i - 1].is_uppercase();
        let before_lower = chars.get(i + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (after_lower || before_lower) {
            words.push(String::new());
        }
        words.last_mut().expect("there is always a last word").push(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(case: &str, expected: &str) {
        assert_eq!(Case::parse(case).ok().unwrap().apply("HTTPServerError2"), expected);
    }

    #[test]
    fn all_cases() {
        check("snake_case", "http_server_error2");
        check("kebab-case", "http-server-error2");
        check("camelCase", "httpServerError2");
        check("PascalCase", "HttpServerError2");
        check("SCREAMING_SNAKE_CASE", "HTTP_SERVER_ERROR2");
        check("lowercase", "httpservererror2");
        check("UPPERCASE", "HTTPSERVERERROR2");
    }

    #[test]
    fn words_of_odd_names() {
        assert_eq!(Case::Snake.apply("A"), "a");
        assert_eq!(Case::Snake.apply("already_snake"), "already_snake");
        assert_eq!(Case::Snake.apply("_"), "");
        assert_eq!(Case::Camel.apply(""), "");
    }

    #[test]
    fn unknown_case_is_an_error_with_a_guess() {
        assert!(Case::parse("snakecase").err().unwrap().contains("did you mean `snake_case`"));
    }

    #[test]
    fn upper_camel_keeps_inner_capitals() {
        assert_eq!(upper_camel("p2p_ingestAll-now"), "P2pIngestAllNow");
        assert_eq!(upper_camel("__new"), "New");
        assert!(is_upper_camel("P2PIngest"));
        assert!(!is_upper_camel("p2p") && !is_upper_camel("") && !is_upper_camel("A_b") && !is_upper_camel("Ä"));
    }
}
