//! Names of OpenTelemetry's semantic conventions, such as `http.server.request.duration`. Such a name does not contain the unit,
//! so the unit is declared beside the name.

use super::units;

/// The first words of the conventions' names. The list is closed, so that a typo in a first word is an error.
const NAMESPACES: [&str; 19] = [
    "azure",
    "cicd",
    "container",
    "cpython",
    "db",
    "dns",
    "dotnet",
    "faas",
    "gen_ai",
    "http",
    "hw",
    "jvm",
    "k8s",
    "messaging",
    "nfs",
    "process",
    "rpc",
    "signalr",
    "system",
];
const LONGEST: usize = 128;

/// Returns whether the name starts with a namespace of the conventions and a dot.
pub(super) fn is(name: &str) -> bool {
    name.split_once('.').is_some_and(|(first, _)| NAMESPACES.contains(&first))
}

/// Returns the error of an invalid name; `None` if the name is valid.
pub(super) fn mistake(name: &str) -> Option<String> {
    let is_word = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase()) && word.split('_').all(is_part);
    if !name.split('.').all(is_word) {
        return Some(format!(
            "`{name}` is not a valid name of the semantic conventions, which are lower-case words separated by `.`"
        ));
    }
    (name.len() > LONGEST).then(|| format!("this name has {} characters; shorten it to at most {LONGEST}", name.len()))
}

fn is_part(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Returns the error of an invalid or missing unit; `None` if the unit is valid.
pub(super) fn unit_mistake(name: &str, unit: Option<&str>) -> Option<String> {
    match unit {
        None => {
            Some(format!("`{name}` does not contain its unit; declare the unit, as in `\"{name}\" {{ unit: \"s\" }}`"))
        }
        Some(unit) if units::is_known(unit) => None,
        Some(unit) => Some(format!(
            "`{unit}` is not a unit of the semantic conventions; write a UCUM unit such as `s`, `By` or `1`, or the counted thing in \
             braces, as in `{{request}}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_decides() {
        for name in
            ["http.server.request.duration", "rpc.server.call.duration", "gen_ai.client.token.usage", "hw.power"]
        {
            assert!(is(name), "{name}");
            assert_eq!(mistake(name), None);
        }
        for name in ["tc.loads.total", "http", "http_server.requests", "my.http.requests", ""] {
            assert!(!is(name), "{name}");
        }
    }

    #[test]
    fn names_that_are_wrong() {
        for name in
            ["http.", "http..duration", "http.Server", "http.server duration", "http.9", "hw._a", "hw.a__b", "hw.a-b"]
        {
            assert!(mistake(name).is_some_and(|mistake| mistake.contains("lower-case words")), "{name}");
        }
        assert_eq!(mistake(&format!("hw.{}", "a".repeat(125))), None);
        assert!(mistake(&format!("hw.{}", "a".repeat(126))).is_some_and(|mistake| mistake.contains("129 characters")));
    }

    #[test]
    fn the_unit_is_written() {
        for unit in ["s", "By", "1", "%", "{request}", "By/s", "Cel"] {
            assert_eq!(unit_mistake("hw.power", Some(unit)), None, "{unit}");
        }
        assert!(unit_mistake("hw.power", None).is_some_and(|mistake| mistake.contains("does not contain its unit")));
        for unit in ["", "seconds", "{}", "By/", "/s", "By/s/s"] {
            assert!(
                unit_mistake("hw.power", Some(unit)).is_some_and(|mistake| mistake.contains("is not a unit")),
                "{unit}"
            );
        }
    }
}
