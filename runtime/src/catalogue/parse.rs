//! Reads JSON. What is wrong is said with its line.

use std::iter::Peekable;
use std::str::Chars;

use super::json::Json;

/// Deeper than any catalogue, and far from the end of the stack.
const DEPTH: usize = 64;

/// Reads a text that is one value.
pub(super) fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    let value = reader.value(0)?;
    reader.space();
    match reader.rest.peek().copied() {
        None => Ok(value),
        Some(c) => Err(reader.wrong(format_args!("`{c}` behind the end"))),
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

type Read<T> = Result<T, String>;

impl Reader<'_> {
    fn wrong(&self, what: impl std::fmt::Display) -> String {
        format!("line {}: {what}", self.line)
    }

    fn next(&mut self) -> Read<char> {
        let c = self.rest.next().ok_or_else(|| self.wrong("the text ends too early"))?;
        self.line += usize::from(c == '\n');
        Ok(c)
    }

    fn space(&mut self) {
        while let Some(c) = self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) {
            self.line += usize::from(c == '\n');
        }
    }

    fn value(&mut self, depth: usize) -> Read<Json> {
        if depth > DEPTH {
            return Err(self.wrong(format_args!("more than {DEPTH} levels")));
        }
        self.space();
        match self.rest.peek().copied() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some('"') => self.text().map(Json::Text),
            Some('-' | '0'..='9') => self.number(),
            Some('a'..='z') => self.word(),
            Some(c) => Err(self.wrong(format_args!("`{c}` where a value is expected"))),
            None => Err(self.wrong("the text ends too early")),
        }
    }

    fn object(&mut self, depth: usize) -> Read<Json> {
        let mut fields = Vec::new();
        self.items('}', |reader| {
            reader.space();
            let name = reader.text()?;
            reader.space();
            reader.expect(':')?;
            fields.push((name, reader.value(depth + 1)?));
            Ok(())
        })?;
        Ok(Json::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Read<Json> {
        let mut items = Vec::new();
        self.items(']', |reader| {
            items.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Json::List(items))
    }

    /// An opening bracket, items separated by commas, and the bracket that closes them.
    fn items(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.next()?;
        self.space();
        if self.rest.next_if_eq(&close).is_some() {
            return Ok(());
        }
        loop {
            item(self)?;
            self.space();
            match self.next()? {
                ',' => {}
                c if c == close => return Ok(()),
                c => return Err(self.wrong(format_args!("`{c}` where `,` or `{close}` is expected"))),
            }
        }
    }

    fn expect(&mut self, expected: char) -> Read<()> {
        match self.next()? {
            c if c == expected => Ok(()),
            c => Err(self.wrong(format_args!("`{c}` where `{expected}` is expected"))),
        }
    }

    fn text(&mut self) -> Read<String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                c if u32::from(c) < 0x20 => return Err(self.wrong("a control character in a text")),
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Read<char> {
        Ok(match self.next()? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(),
            c => return Err(self.wrong(format_args!("`\\{c}` is no escape"))),
        })
    }

    fn unicode(&mut self) -> Read<char> {
        let mut code = self.hex()?;
        if (0xd800..0xdc00).contains(&code) {
            self.expect('\\')?;
            self.expect('u')?;
            let low = self.hex()?.wrapping_sub(0xdc00);
            code = if low < 0x400 { 0x10000 + ((code - 0xd800) << 10) + low } else { 0xd800 };
        }
        char::from_u32(code).ok_or_else(|| self.wrong("a half of a character"))
    }

    fn hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let c = self.next()?;
            let digit = c.to_digit(16).ok_or_else(|| self.wrong(format_args!("`{c}` is no hexadecimal digit")))?;
            code = code * 16 + digit;
        }
        Ok(code)
    }

    fn number(&mut self) -> Read<Json> {
        let mut digits = String::new();
        while let Some(c) = self.rest.next_if(|c| matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9')) {
            digits.push(c);
        }
        match digits.parse::<f64>() {
            Ok(_) => Ok(Json::Number(digits)),
            Err(_) => Err(self.wrong(format_args!("`{digits}` is no number"))),
        }
    }

    fn word(&mut self) -> Read<Json> {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(char::is_ascii_alphabetic) {
            word.push(c);
        }
        match word.as_str() {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            word => Err(self.wrong(format_args!("`{word}` is no value"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let texts = ["", "plain", "\"quoted\" \\ \n\t\r\u{1} ünï 🦀"].map(Json::from);
        let numbers = [Json::from(u64::MAX), Json::from(0.1), Json::from(-1e300), Json::from(f64::NAN)];
        let value = Json::object([
            ("texts", Json::List(texts.to_vec())),
            ("numbers", Json::List(numbers.to_vec())),
            ("nested", Json::List(vec![Json::object([("empty", Json::object([])), ("no", false.into())])])),
        ]);
        assert_eq!(parse(&value.to_string()), Ok(value.clone()));
        let other: serde_json::Value = serde_json::from_str(&value.to_string()).unwrap();
        assert_eq!(parse(&other.to_string()), parse(&serde_json::to_string_pretty(&other).unwrap()));
        assert_eq!(other["texts"][2], "\"quoted\" \\ \n\t\r\u{1} ünï 🦀");
    }

    #[test]
    fn escapes_are_understood() {
        assert_eq!(parse(r#" "\u0041\/\ud83e\udd80\b" "#), Ok(Json::from("A/🦀\u{8}")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("", "line 1: the text ends too early"),
            ("[1,\n2", "line 2: the text ends too early"),
            ("[1 2]", "line 1: `2` where `,` or `]` is expected"),
            ("{\"a\" 1}", "line 1: `1` where `:` is expected"),
            ("{a: 1}", "line 1: `a` where `\"` is expected"),
            ("1-2", "line 1: `1-2` is no number"),
            ("nul", "line 1: `nul` is no value"),
            ("{} x", "line 1: `x` behind the end"),
            (r#""\x""#, "line 1: `\\x` is no escape"),
            (r#""\ud83e""#, "line 1: `\"` where `\\` is expected"),
            (r#""\ud83e\u0041""#, "line 1: a half of a character"),
            ("\"\n\"", "line 2: a control character in a text"),
        ] {
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), Err("line 1: more than 64 levels".to_owned()));
    }
}
