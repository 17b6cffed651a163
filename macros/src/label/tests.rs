//! Valid labels, and the errors of invalid ones.

use super::*;

/// Checks that the expansion, or the list of errors, contains each of `parts`.
#[track_caller]
fn check(found: TokenStream, parts: &[&str]) {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let found = squeezed(&found.to_string());
    for part in parts {
        assert!(found.contains(&squeezed(part)), "{part}\n{found}");
    }
    let errors = parts.iter().filter(|part| !part.contains("=>") && !part.starts_with("impl")).count();
    assert_eq!(found.matches("compile_error!").count(), errors, "{found}");
}

#[test]
fn derived_values() {
    check(
        derive("enum A { RemoteDisk, #[tc_label(rename = \"x\")] B }".parse().unwrap()),
        &["\"remote_disk\" => ::core"],
    );
    check(
        derive("#[tc_label(rename_all = \"kebab-case\")] enum A { RemoteDisk, #[tc_label(other)] B }".parse().unwrap()),
        &["0usize => \"remote-disk\"", "_ => \"b\"", "_ => ::core::option::Option::Some(Self::B)"],
    );
}

#[test]
fn derive_mistakes() {
    let check_derive = |text: &str, parts: &[&str]| check(derive(text.parse().unwrap()), parts);
    check_derive("struct A;", &["`TcLabel` is for enums without fields"]);
    check_derive("enum A {}", &["a label needs at least one variant"]);
    check_derive("enum A { B(u8), C { d: u8 } }", &["cannot have fields", "cannot have fields"]);
    check_derive("enum A<T> { B, C(T) }", &["cannot be generic", "cannot have fields"]);
    check_derive(
        "enum A { AB, Ab, #[tc_label(rename = \"ab\")] C }",
        &["already used by `AB`", "already used by `AB`"],
    );
    check_derive("enum A { #[tc_label(other)] B, #[tc_label(other)] C }", &["only one variant"]);
    check_derive("#[tc_label(rename_al = \"x\")] enum A { B }", &["did you mean `rename_all`"]);
    check_derive("#[tc_label(rename_all = \"snake\")] enum A { B }", &["unknown case `snake`", "impl ::tracecast"]);
    check_derive("enum A { #[tc_label(rename = \"a\", rename = \"b\")] B }", &["`rename` is given twice"]);
    check_derive("#[tc_label(rename = \"a\")] enum A { B }", &["`rename` belongs on a variant"]);
}

#[test]
fn external_enums() {
    let check_external =
        |text: &str, parts: &[&str]| check(label_for(format!("crate = x; {text}").parse().unwrap()), parts);
    check_external(
        "pub struct N for a::E { A | B => \"ab\", C => \"c\", D => \"ab\", _ => \"other\" }",
        &["a::E::A { .. } | a::E::B { .. } => 0u16", "a::E::D { .. } => 0u16", "_ => 2u16", "1usize => \"c\""],
    );
    check_external("struct N for E {}", &["at least one value"]);
    check_external(
        "struct N for E { _ => \"a\", B => \"\", B => \"c\" }",
        &["`_` must come last", "cannot be empty", "given twice"],
    );
}
