//! The checked input of `tc_keys!`, such as `pub label source: SourceType = "tc.source.type";`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, GenericArgument, LitStr, PathArguments, Token, Type, Visibility};

use crate::diagnostics::{Errors, shown};
use crate::entries::{self, is_punct, take};
use crate::suggest;

/// The declaration of one key.
pub(super) struct Key {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) kind: Kind,
    pub(super) name: Ident,
    pub(super) ty: KeyType,
    /// The exported name.
    pub(super) wire: LitStr,
    /// The options after the name: `baggage`, `logs`.
    pub(super) options: Vec<Ident>,
}

/// The kinds of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Label,
    Id,
    Measure,
}

/// The type of a key's values.
pub(super) enum KeyType {
    /// A type as written by the user.
    Given(TokenStream),
    /// `Index<N>`, by its size. Users need not import the type.
    Index(TokenStream),
    /// `Interned<N>`, by its size. Each key has its own table of values.
    Interned(TokenStream),
}

const KINDS: [(&str, Kind); 3] = [("label", Kind::Label), ("id", Kind::Id), ("measure", Kind::Measure)];
const IDS: [&str; 4] = ["str", "u64", "i64", "bool"];
const MEASURES: [&str; 3] = ["u64", "i64", "f64"];
/// The types of attributes that are declared where they are recorded.
const ANY: [&str; 5] = ["str", "u64", "i64", "f64", "bool"];
const OPEN: [&str; 17] = [
    "String", "str", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    "f32", "f64",
];

/// Parses all declarations. A key with a wrong kind, type, name or option is reported and still returned; a declaration with a
/// syntax error, or with the identifier of an earlier key, is not.
pub(super) fn parse(input: TokenStream) -> (Vec<Key>, Errors) {
    let (mut keys, mut errors): (Vec<Key>, _) = (Vec::new(), Errors::default());
    for entry in entries::split(input, "key", &mut errors) {
        let parsed = (|input: ParseStream| key(input, &mut errors)).parse2(entry);
        let Some(key) = errors.keep(parsed) else { continue };
        if keys.iter().any(|known| known.name == key.name) {
            errors.at(&key.name, format_args!("key `{}` is declared twice; rename or remove one", key.name));
            continue;
        }
        if let Some(first) = keys.iter().find(|known| known.wire.value() == key.wire.value()) {
            let (wire, first) = (key.wire.value(), &first.name);
            errors.at(&key.wire, format_args!("name `{wire}` is already used by key `{first}`; choose another name"));
        }
        keys.push(key);
    }
    (keys, errors)
}

fn key(input: ParseStream, errors: &mut Errors) -> syn::Result<Key> {
    let (attrs, vis) = (input.call(Attribute::parse_outer)?, input.parse()?);
    let kind = kind(input, errors)?;
    let name: Ident = input.parse()?;
    take::<Token![:]>(input, || format!("key `{name}` has no type; write `{name}: str` or another type"))?;
    let ty: Type = input.parse()?;
    take::<Token![=]>(input, || format!("key `{name}` has no exported name; write `= \"tc.{name}\"`"))?;
    let wire: LitStr = input.parse()?;
    let options = options(input, errors)?;
    check_wire(&wire, errors);
    let (kind, ty) = match kind {
        Some(kind) => checked(kind, ty, errors),
        None => (Kind::Id, open_type(&ty)),
    };
    Ok(Key { attrs, vis, kind, name, ty, wire, options })
}

/// Parses `label`, `id` or `measure`. Any other word is reported and gives `None`; a missing kind is an error.
fn kind(input: ParseStream, errors: &mut Errors) -> syn::Result<Option<Kind>> {
    let word: Ident = input.call(Ident::parse_any)?;
    let known = KINDS.map(|(name, _)| name);
    if input.peek(Token![:]) {
        let message = format!("a key needs a kind; write `label {word}: ..`, `id {word}: ..` or `measure {word}: ..`");
        return Err(syn::Error::new_spanned(word, message));
    }
    let found = KINDS.iter().find(|(name, _)| word == name).map(|(_, kind)| *kind);
    if found.is_none() {
        errors.at(&word, suggest::unknown("kind of key", &word.to_string(), &known));
    }
    Ok(found)
}

const OPTIONS: [&str; 2] = ["baggage", "logs"];

/// Parses the end of a declaration: options such as `{ baggage, logs }`, if any, and the `;`.
fn options(input: ParseStream, errors: &mut Errors) -> syn::Result<Vec<Ident>> {
    match input.parse::<TokenTree>()? {
        token if is_punct(&token, ';') => Ok(Vec::new()),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            input.parse::<Token![;]>()?;
            let (known, unknown): (Vec<Ident>, Vec<Ident>) = group
                .stream()
                .into_iter()
                .filter_map(|token| if let TokenTree::Ident(word) = token { Some(word) } else { None })
                .partition(|word| OPTIONS.iter().any(|option| word == option));
            for word in unknown {
                errors.at(&word, suggest::unknown("option", &word.to_string(), &OPTIONS));
            }
            Ok(known)
        }
        other => Err(syn::Error::new_spanned(other, "expected `;` or options, as in `{ baggage };`")),
    }
}

/// Checks the type against the kind of the key. A key with a wrong type becomes an `id` of the closest type, so that its uses do
/// not cause further errors.
fn checked(kind: Kind, ty: Type, errors: &mut Errors) -> (Kind, KeyType) {
    let (name, shown) = (primitive(&ty), shown(&ty));
    match kind {
        Kind::Label if list_of(&ty).is_some() => {
            errors.at(
                &ty,
                format_args!(
                    "a label has one value of a closed set, and `{shown}` is a list; declare the list as an `id` or a `measure`, for spans only"
                ),
            );
            (Kind::Id, open_type(&ty))
        }
        Kind::Label if name.as_deref().is_some_and(|name| OPEN.contains(&name)) => {
            errors.at(
                &ty,
                format_args!(
                    "a label needs a closed set of values, and `{shown}` is open: derive `TcLabel` on an enum, \
                 or use `bool`, `Index<N>` or `Interned<N>`; for open values declare an `id`"
                ),
            );
            (Kind::Id, open_type(&ty))
        }
        Kind::Label => (kind, label_type(ty)),
        Kind::Id | Kind::Measure => {
            let (word, accepted): (&str, &[&str]) =
                if kind == Kind::Id { ("an `id`", &IDS) } else { ("a `measure`", &MEASURES) };
            match accepted_type(&ty, accepted) {
                Some(tokens) => (kind, KeyType::Given(tokens)),
                None => {
                    errors.at(&ty, refused(word, &ty, accepted));
                    (Kind::Id, open_type(&ty))
                }
            }
        }
    }
}

/// Returns the type of an attribute that is declared where it is recorded; an error if the type is not supported.
pub(crate) fn ad_hoc_type(ty: &Type) -> syn::Result<TokenStream> {
    accepted_type(ty, &ANY).ok_or_else(|| syn::Error::new_spanned(ty, refused("an attribute", ty, &ANY)))
}

/// Returns the type for generated code, if `ty` is one of `accepted` or a slice of an accepted type. `[str]` becomes a slice of
/// references, because elements of a slice must be sized.
fn accepted_type(ty: &Type, accepted: &[&str]) -> Option<TokenStream> {
    let known = |ty: &Type| primitive(ty).filter(|name| accepted.contains(&name.as_str()));
    match (ty, list_of(ty)) {
        (Type::Slice(_), Some(element)) => match (known(element)?.as_str(), element) {
            ("str", _) => Some(quote!([&'static ::core::primitive::str])),
            (_, Type::Reference(_)) => None,
            _ => Some(ty.to_token_stream()),
        },
        (Type::Reference(_), _) => None,
        _ => known(ty).map(|_| ty.to_token_stream()),
    }
}

fn refused(what: &str, ty: &Type, accepted: &[&str]) -> String {
    let list = accepted.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let (shown, first) = (shown(ty), accepted[0]);
    format!("{what} cannot be of type `{shown}`; expected one of {list}, or a list, as `[{first}]`{}", hint(ty))
}

/// Returns the type of the elements of a slice, an array or a `Vec`, also behind references; `None` for other types.
fn list_of(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(reference) => list_of(&reference.elem),
        Type::Group(group) => list_of(&group.elem),
        Type::Slice(slice) => Some(&slice.elem),
        Type::Array(array) => Some(&array.elem),
        Type::Path(path) => {
            let last = path.path.segments.last().filter(|last| last.ident == "Vec")?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            match arguments.args.first()? {
                GenericArgument::Type(element) => Some(element),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns advice for a type that keys do not support, as the end of an error; empty if there is none.
fn hint(ty: &Type) -> &'static str {
    match (ty, list_of(ty)) {
        (Type::Slice(_), Some(element)) => return hint(element),
        (_, Some(_)) => return "; a list key takes slices, arrays and vectors",
        _ => {}
    }
    match primitive(ty).as_deref() {
        Some("String" | "str" | "char") => "; a `str` key takes strings, owned and borrowed",
        Some("u8" | "u16" | "u32" | "usize") => "; a `u64` key takes every unsigned integer",
        Some("i8" | "i16" | "i32" | "isize") => "; an `i64` key takes every signed integer",
        Some("f32") => "; an `f64` key takes `f32` too",
        _ => "",
    }
}

/// Returns the last word of a type's path, also behind references; `None` if the word has generic arguments, or the type is not a
/// path.
fn primitive(ty: &Type) -> Option<String> {
    match ty {
        Type::Reference(reference) => primitive(&reference.elem),
        Type::Group(group) => primitive(&group.elem),
        Type::Path(path) => {
            path.path.segments.last().filter(|last| last.arguments.is_none()).map(|last| last.ident.to_string())
        }
        _ => None,
    }
}

/// Returns the type for an `id` that is closest to `ty`.
fn open_type(ty: &Type) -> KeyType {
    let element = list_of(ty);
    let name = match primitive(element.unwrap_or(ty)).as_deref() {
        Some("u8" | "u16" | "u32" | "u64" | "usize") => "u64",
        Some("i8" | "i16" | "i32" | "i64" | "isize") => "i64",
        Some("bool") => "bool",
        _ => "str",
    };
    let name = Ident::new(name, proc_macro2::Span::call_site());
    KeyType::Given(match element {
        None => name.into_token_stream(),
        Some(_) if name == "str" => quote!([&'static ::core::primitive::str]),
        Some(_) => quote!([#name]),
    })
}

fn label_type(ty: Type) -> KeyType {
    let bounded = |ty: &Type| match ty {
        Type::Path(path) if path.qself.is_none() && path.path.segments.len() == 1 => {
            let segment = &path.path.segments[0];
            match &segment.arguments {
                PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => match &arguments.args[0] {
                    GenericArgument::Lifetime(_) => None,
                    size => Some((segment.ident.to_string(), size.to_token_stream())),
                },
                _ => None,
            }
        }
        _ => None,
    };
    match bounded(&ty) {
        Some((name, size)) if name == "Index" => KeyType::Index(size),
        Some((name, size)) if name == "Interned" => KeyType::Interned(size),
        _ => KeyType::Given(ty.into_token_stream()),
    }
}

/// Reports an invalid name of a key. A valid one, such as `tc.source.type`, has words of lower-case letters, digits and `_`, each
/// starting with a letter, separated by dots. The word after `header` or `metadata` may also contain `-`, as names of headers do.
pub(crate) fn check_wire(wire: &LitStr, errors: &mut Errors) {
    let name = wire.value();
    let is_word = |word: &str, of_header: bool| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || (c == '-' && of_header);
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(fits)
    };
    let is_name = |name: &str| {
        let before = [""].into_iter().chain(name.split('.'));
        before.zip(name.split('.')).all(|(before, word)| is_word(word, matches!(before, "header" | "metadata")))
    };
    if is_name(&name) {
        return;
    }
    let words = name
        .split(['.', '/', ':', ' '])
        .map(|word| crate::case::Case::Snake.apply(word))
        .filter(|word| !word.is_empty());
    let better = words.collect::<Vec<_>>().join(".");
    let advice = match !better.is_empty() && is_name(&better) {
        true => format!("write `{better}`"),
        false => "write for example `tc.source.type`".to_owned(),
    };
    errors.at(wire, format_args!("key name `{name}` must be lower-case words separated by dots; {advice}"));
}
