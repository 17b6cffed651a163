//! Valid keys, and the errors of invalid ones.

use super::*;

/// Checks that the declarations cause exactly the errors that contain `expected`, in this order.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, errors) = model::parse(text.parse().unwrap());
    let found: Vec<String> = match errors.finish() {
        Ok(()) => Vec::new(),
        Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
    };
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(same, "{found:#?}");
}

#[test]
fn right_keys() {
    check(
        r#"/// Docs.
           pub label source: SourceType = "tc.source.type";
           pub(crate) label device: Index<16> = "tc.device.id";
           label tenant: Interned<{ N }> = "tc.tenant.class" { baggage };
           #[deprecated] pub id artifact: str = "tc.artifact_2.id";
           pub measure bytes: u64 = "bytes";"#,
        &[],
    );
}

#[test]
fn labels_are_closed() {
    check(r#"label a: String = "a";"#, &["`String` is open: derive `TcLabel` on an enum"]);
    check(r#"label a: &'static str = "a"; label b: std::primitive::u64 = "b";"#, &["is open", "is open"]);
}

#[test]
fn other_types() {
    check(
        r#"id a: String = "a";"#,
        &[
            "an `id` cannot be of type `String`; expected one of `str`, `u64`, `i64`, `bool`, or a list, as `[str]`; a `str` key",
        ],
    );
    check(
        r#"measure a: u32 = "a";"#,
        &[
            "a `measure` cannot be of type `u32`; expected one of `u64`, `i64`, `f64`, or a list, as `[u64]`; a `u64` key",
        ],
    );
    check(r#"measure a: str = "a";"#, &["a `measure` cannot be of type `str`"]);
    check(r#"id a: Vec<u8> = "a";"#, &["an `id` cannot be of type `Vec<u8>`"]);
    check(r#"id a: &'static str = "a";"#, &["an `id` cannot be of type `&'static str`"]);
}

#[test]
fn lists() {
    check(
        r#"id a: [str] = "a"; id b: [&str] = "b"; id c: [u64] = "c"; id d: [i64] = "d"; id e: [bool] = "e";
           measure f: [u64] = "f"; measure g: [i64] = "g"; measure h: [f64] = "h";"#,
        &[],
    );
    check(
        r#"label a: [str] = "a"; label b: Vec<u64> = "b"; label c: &[bool; 3] = "c";"#,
        &["`[str]` is a list; declare the list as an `id` or a `measure`", "`Vec<u64>` is a list", "is a list"],
    );
    check(r#"id a: [f64] = "a";"#, &["an `id` cannot be of type `[f64]`"]);
    check(r#"measure a: [bool] = "a";"#, &["a `measure` cannot be of type `[bool]`"]);
    check(
        r#"id a: Vec<String> = "a"; id b: [[str]] = "b"; id c: [&u64] = "c"; id d: &[str] = "d";"#,
        &["or a list, as `[str]`; a list key takes slices, arrays and vectors", "`[[str]]`", "`[&u64]`", "`&[str]`"],
    );
}

#[test]
fn names() {
    check(r#"id a: [str] = "http.request.header.x-request-id"; id b: str = "rpc.metadata.a-b";"#, &[]);
    check(r#"id a: str = "tc.source-type";"#, &["write `tc.source_type`"]);
    check(r#"id a: str = "Tc.SourceType";"#, &["write `tc.source_type`"]);
    check(r#"id a: str = "tc..a";"#, &["write `tc.a`"]);
    check(r#"id a: str = "";"#, &["write for example"]);
    check(
        r#"id a: str = "a"; id a: str = "b"; id c: str = "a";"#,
        &["`a` is declared twice", "`a` is already used by key `a`"],
    );
}

#[test]
fn grammar() {
    check(r#"lable a: bool = "a";"#, &["unknown kind of key `lable`; did you mean `label`?"]);
    check(r#"pub a: bool = "a";"#, &["write `label a: ..`"]);
    check(r#"id a: str = "a""#, &["expected `;` after this key"]);
    check(r#"id a: str = "a", id b: str = "b" id c: str = "c" { baggage }"#, &["expected `;` after this key"; 3]);
    check(r#"id a: str = "a" { bagage };"#, &["did you mean `baggage`?"]);
    check(r#"id a str = "a"; label b: String = "b"; id c: str = "c";"#, &["`a` has no type", "is open"]);
}

#[test]
fn parts_left_out() {
    check(
        r#"id a = "a"; id b: str; id c: ; id d; id e: str = ;"#,
        &[
            "key `a` has no type",
            "key `b` has no exported name",
            "expected",
            "key `d` has no type",
            "expected string literal",
        ],
    );
}

#[test]
fn a_wrong_key_is_declared_all_the_same() {
    let tokens = declare(r#"crate = x; label a: String = "a"; id b: str = "b";"#.parse().unwrap()).to_string();
    assert!(tokens.contains("enum a") && tokens.contains("enum b") && tokens.contains("compile_error"), "{tokens}");
}
