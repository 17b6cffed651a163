//! Splits a JSON object into members and a JSON array into elements, without parsing the members and elements.

/// Returns the names and values of an object's members; names keep their quotes. `None` if the text is not one complete
/// object.
pub(crate) fn members(object: &str) -> Option<Vec<(&str, &str)>> {
    let mut members = Vec::new();
    list(object, b'{', b'}', |text| {
        let name = value(text).filter(|name| name.starts_with('"'))?;
        let after = text[name.len()..].trim_start().strip_prefix(':')?.trim_start();
        let value = value(after)?;
        members.push((name, value));
        Some(&after[value.len()..])
    })?;
    Some(members)
}

/// Returns the elements of an array. `None` if the text is not one complete array.
pub(crate) fn elements(array: &str) -> Option<Vec<&str>> {
    let mut elements = Vec::new();
    list(array, b'[', b']', |text| {
        let value = value(text)?;
        elements.push(value);
        Some(&text[value.len()..])
    })?;
    Some(elements)
}

/// Visits the items between two brackets. `item` reads one item and returns the text after it. `None` if the text is not one
/// complete list.
fn list<'a>(text: &'a str, open: u8, close: u8, mut item: impl FnMut(&'a str) -> Option<&'a str>) -> Option<()> {
    let mut rest = text.trim().strip_prefix(char::from(open))?.trim_start();
    if rest == char::from(close).to_string() {
        return Some(());
    }
    loop {
        rest = item(rest)?.trim_start();
        match rest.as_bytes().first()? {
            b',' => rest = rest[1..].trim_start(),
            byte if *byte == close && rest.len() == 1 => return Some(()),
            _ => return None,
        }
    }
}

/// Returns the value at the start of the text, if there is a complete one.
fn value(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let end = match bytes.first()? {
        b'"' => string(bytes)?,
        b'{' | b'[' => bracketed(bytes)?,
        _ => bytes.iter().position(|byte| b",]}: \t\r\n".contains(byte)).unwrap_or(bytes.len()),
    };
    text.get(..end).filter(|value| !value.is_empty())
}

/// Returns the length of the quoted string at the start of the bytes; `None` if it does not end.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the length of the object or array at the start of the bytes; `None` if its brackets do not match. Does not
/// recurse, because a peer chooses the depth.
fn bracketed(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, Vec::new());
    loop {
        match bytes.get(at)? {
            b'"' => at += string(&bytes[at..])? - 1,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            byte @ (b'}' | b']') if open.pop()? != *byte => return None,
            _ => {}
        }
        at += 1;
        if open.is_empty() {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_elements_are_found() {
        let object = r#" {"a": [1, {"b": "]}"}], "c\"":{},"d" :-1.5e3} "#;
        let expected = [(r#""a""#, r#"[1, {"b": "]}"}]"#), (r#""c\"""#, "{}"), (r#""d""#, "-1.5e3")];
        assert_eq!(members(object).unwrap(), expected);
        assert_eq!(elements(r#"[1, {"b": "]}"}, "é"]"#).unwrap(), ["1", r#"{"b": "]}"}"#, "\"é\""]);
        assert_eq!((members("{}"), elements("[ ]")), (Some(vec![]), Some(vec![])));
    }

    #[test]
    fn text_that_is_cut_off_or_something_else_is_neither() {
        let whole = r#"{"partialSuccess":{"errorMessage":"a\"b","x":[1,{}]}}"#;
        assert!(members(whole).is_some());
        for end in 0..whole.len() {
            assert_eq!(members(&whole[..end]), None, "{}", &whole[..end]);
        }
        for text in
            ["", "<html></html>", "ok", "[]", "\"{}\"", "{}{}", "{]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":[}]}"]
        {
            assert_eq!(members(text), None, "{text}");
        }
        assert_eq!(elements("[1,,2]"), None);
    }
}
