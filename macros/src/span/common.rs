//! Expands the common case token by token: `#[tc_span("A/B")]` on a `fn` whose signature is simple.
//!
//! Users compile this crate without optimisation, and then parsing with `syn` takes most of the time of an expansion. Any other
//! input, including every mistake, is left to the other modules. They generate the same tokens for the input accepted here.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span as Site, TokenStream, TokenTree};
use quote::quote_spanned;

use super::expand;
use super::options;
use super::shape::{is_copy, is_never_result, is_result};
use crate::krate::Krate;

/// The kinds of values that the spelling of a return type distinguishes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    /// Neither a `Result` nor a future.
    Value,
    /// A `Result` with arguments.
    Result,
    /// A type that may be an alias of a `Result` or of a future.
    Anything,
}

/// Expands the function; `None` if the function or its options are not simple, the runtime is not found, or telemetry is compiled
/// out.
pub(super) fn expand(args: &TokenStream, item: &TokenStream) -> Option<TokenStream> {
    let krate = Krate::default();
    if cfg!(feature = "off") || !krate.is_found() {
        return None;
    }
    let name = name(args)?;
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let TokenTree::Group(body) = tokens.pop()? else { return None };
    if body.delimiter() != Delimiter::Brace || has_inner_attributes(&body) {
        return None;
    }
    let arguments = arguments_at(&tokens)?;
    let TokenTree::Group(list) = &tokens[arguments] else { return None };
    let by_move = moves(list)?;
    let output = output(&tokens[arguments + 1..])?;
    let body = expand_body(&krate, name, &body, by_move, output);
    tokens.push(TokenTree::Group(body));
    Some(tokens.into_iter().collect())
}

fn expand_body(
    krate: &Krate,
    (name, text): (Literal, String),
    body: &Group,
    by_move: bool,
    (output, returns): (&[TokenTree], Returns),
) -> Group {
    let site = body.span();
    let k = krate.private_as_of(site);
    let callsite = expand::plain_callsite(krate, &text, name.span(), body.span_open());
    let observer = (returns != Returns::Value).then(|| {
        let ty = output[2..].iter().cloned().collect();
        let observer = expand::of_type(krate, &ty, returns == Returns::Result, site);
        quote_spanned!(site=> , #observer)
    });
    let otherwise = observer.as_ref().map(|_| expand::otherwise(&krate.private()));
    let run = Ident::new(if observer.is_some() { "run_observed" } else { "run" }, site);
    let by_move = by_move.then(|| Ident::new("move", site));
    let output: TokenStream = respanned_arrow(output, site).collect();
    super::body::regroup(
        body,
        quote_spanned!(site=> #otherwise #callsite #k::#run(&__TC_CALLSITE, #by_move || #output #body #observer)),
    )
}

/// Returns the return type of the closure: the tokens of `output`, with the arrow located at `site`.
fn respanned_arrow(output: &[TokenTree], site: Site) -> impl Iterator<Item = TokenTree> {
    output.iter().enumerate().map(move |(at, token)| {
        let mut token = token.clone();
        if at < 2 {
            token.set_span(site);
        }
        token
    })
}

/// Returns the only argument and its text, if it is a valid span name.
fn name(args: &TokenStream) -> Option<(Literal, String)> {
    let mut args = args.clone().into_iter();
    let (Some(TokenTree::Literal(literal)), None) = (args.next(), args.next()) else { return None };
    let text = literal.to_string();
    let text = text.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))?;
    let text = options::is_name(text).then(|| text.to_owned())?;
    Some((literal, text))
}

fn has_inner_attributes(body: &Group) -> bool {
    let mut tokens = body.stream().into_iter();
    tokens.next().is_some_and(|token| is_punct(&token, '#')) && tokens.next().is_some_and(|token| is_punct(&token, '!'))
}

/// Returns the index of the argument list, after attributes, visibility, `fn`, name and type parameters. `None` if another token
/// precedes the list, or an attribute affects the expansion.
fn arguments_at(tokens: &[TokenTree]) -> Option<usize> {
    let mut at = 0;
    while is_punct(tokens.get(at)?, '#') {
        let TokenTree::Group(attribute) = tokens.get(at + 1)? else { return None };
        if is_special(attribute) {
            return None;
        }
        at += 2;
    }
    let mut word = word(tokens.get(at)?)?;
    if word == "pub" {
        at += if is_group(tokens.get(at + 1)?, Delimiter::Parenthesis) { 2 } else { 1 };
        word = self::word(tokens.get(at)?)?;
    }
    if word != "fn" || !matches!(tokens.get(at + 1)?, TokenTree::Ident(_)) {
        return None;
    }
    at += 2;
    if is_punct(tokens.get(at)?, '<') {
        at = behind_angles(tokens, at)?;
    }
    is_group(tokens.get(at)?, Delimiter::Parenthesis).then_some(at)
}

/// Returns whether the expansion depends on this attribute.
fn is_special(attribute: &Group) -> bool {
    let path = attribute.stream().into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
    path.into_iter()
        .any(|token| word(&token).is_some_and(|word| matches!(&*word, "tc_span" | "tc_metric" | "track_caller")))
}

/// Returns the index after the `<..>` that starts at `at`; `None` if it is not closed.
fn behind_angles(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let mut depth = 0;
    for index in at..tokens.len() {
        if let TokenTree::Punct(punct) = &tokens[index] {
            match punct.as_char() {
                '<' => depth += 1,
                // The `>` of an arrow closes nothing.
                '>' if !is_punct(&tokens[index - 1], '-') => depth -= 1,
                _ => {}
            }
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Returns whether the closure captures by move, because no argument has a destructor. `None` if an argument is not simple.
fn moves(list: &Group) -> Option<bool> {
    let tokens: Vec<TokenTree> = list.stream().into_iter().collect();
    let (mut moves, mut start) = (true, 0);
    while start < tokens.len() {
        let mut end = start;
        while end < tokens.len() && !is_punct(&tokens[end], ',') {
            end = if is_punct(&tokens[end], '<') { behind_angles(&tokens, end)? } else { end + 1 };
        }
        moves &= never_drops(&tokens[start..end])?;
        start = end + 1;
    }
    Some(moves)
}

/// Returns whether an argument has no destructor, as far as its type shows. `None` if the argument is not `name: Type`, `self` or
/// `&self`, or its type is not simple.
fn never_drops(argument: &[TokenTree]) -> Option<bool> {
    match argument {
        [first, .., receiver] if is_punct(first, '&') => {
            word(receiver).filter(|receiver| receiver == "self").map(|_| true)
        }
        [receiver] => word(receiver).filter(|receiver| receiver == "self").map(|_| false),
        [name, colon, ty @ ..] if is_punct(colon, ':') => {
            word(name).filter(|name| name != "self")?;
            match ty {
                [only @ TokenTree::Ident(_)] => Some(is_copy(&word(only)?)),
                [first @ TokenTree::Ident(_), ..] => match &*word(first)? {
                    "unsafe" | "extern" | "for" => None,
                    first => Some(first == "fn"),
                },
                [TokenTree::Punct(first), ..] if matches!(first.as_char(), '&' | '*') => Some(true),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the arrow with the return type, without a `where` clause, and the kind of the type. `None` if the type is not simple.
fn output(tokens: &[TokenTree]) -> Option<(&[TokenTree], Returns)> {
    let end = tokens.iter().position(|token| word(token).is_some_and(|word| word == "where")).unwrap_or(tokens.len());
    let output = &tokens[..end];
    match output {
        [] => Some((output, Returns::Value)),
        [minus, greater, ty @ ..] if is_punct(minus, '-') && is_punct(greater, '>') => {
            if ty.iter().any(is_unread) {
                return None;
            }
            Some((output, returned(ty)?))
        }
        _ => None,
    }
}

/// Returns whether a token of a type is not supported here.
fn is_unread(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(word) => matches!(&*word.to_string(), "impl" | "dyn" | "fn"),
        TokenTree::Punct(punct) => punct.as_char() == '!',
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::None || group.stream().into_iter().any(|token| is_unread(&token))
        }
        TokenTree::Literal(_) => false,
    }
}

fn returned(ty: &[TokenTree]) -> Option<Returns> {
    match ty {
        [TokenTree::Punct(first), ..] if first.as_char() == '&' => Some(Returns::Value),
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => Some(Returns::Value),
        [TokenTree::Group(group)] => {
            let is_tuple = group.stream().into_iter().any(|token| is_punct(&token, ','));
            is_tuple.then_some(Returns::Value)
        }
        [TokenTree::Ident(_), ..] => by_last_word(ty),
        _ => None,
    }
}

/// Classifies a type by the last word of `a::b::Type<..>`. `None` for other types, and for those that may contain or be a future
/// or a stream.
fn by_last_word(ty: &[TokenTree]) -> Option<Returns> {
    let mut at = 0;
    let (last, has_arguments) = loop {
        let last = word(ty.get(at)?)?;
        match &ty[at + 1..] {
            [] => break (last, false),
            [first, second, ..] if is_punct(first, ':') && is_punct(second, ':') => at += 3,
            [first, ..] if is_punct(first, '<') && behind_angles(ty, at + 1) == Some(ty.len()) => break (last, true),
            _ => return None,
        }
    };
    match &*last {
        // `Box` and `Pin` may contain a future.
        "Box" | "Pin" => None,
        last if is_never_result(last) => Some(Returns::Value),
        last if is_result(last, has_arguments) => Some(Returns::Result),
        last if last.ends_with("Future") || last.ends_with("Stream") => None,
        _ => Some(Returns::Anything),
    }
}

fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(word) => Some(word.to_string()).filter(|word| !matches!(&**word, "mut" | "ref")),
        _ => None,
    }
}

fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

#[cfg(test)]
mod tests;
