//! Examines the tokens of a body without parsing it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Splits the inner attributes `#![…]` off the top of a body; returns them as outer attributes for the function, and the rest of
/// the body.
pub(crate) fn hoist_inner_attributes(body: &Group) -> (TokenStream, Group) {
    let mut hoisted = TokenStream::new();
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let mut rest = &tokens[..];
    while let [pound, bang, group, after @ ..] = rest
        && is_punct(pound, '#')
        && is_punct(bang, '!')
        && is_group(group, Delimiter::Bracket)
    {
        hoisted.extend([pound.clone(), group.clone()]);
        rest = after;
    }
    if hoisted.is_empty() {
        return (hoisted, body.clone());
    }
    (hoisted, regroup(body, rest.iter().cloned().collect()))
}

/// Returns whether the body is a single expression, as far as its tokens show.
pub(crate) fn is_lone_expression(body: &Group) -> bool {
    let starts_item =
        |word: &str| ["fn", "struct", "enum", "union", "impl", "trait", "mod", "macro_rules", "extern"].contains(&word);
    !body.stream().into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Ident(word) => starts_item(&word.to_string()),
        _ => false,
    })
}

/// Returns whether the variable `name` occurs in `tokens`, as a word or inside a literal such as `"{name}"`.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(ident) => ident == name && !is_member(&tokens[..at]),
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Literal(literal) => formats(&literal.to_string(), name.trim_start_matches("r#")),
        TokenTree::Punct(_) => false,
    })
}

/// Returns whether the word after these tokens is the name of a field, a method or an item: `a.b`, `a::b`.
fn is_member(before: &[TokenTree]) -> bool {
    match before {
        [.., first, second] if is_punct(first, '.') && is_punct(second, '.') => false,
        [.., dot] if is_punct(dot, '.') => true,
        [.., first, second] => is_punct(first, ':') && is_punct(second, ':'),
        _ => false,
    }
}

/// Returns whether a format string in this literal may name the variable `name`.
fn formats(literal: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    literal.contains('{') && literal.split(|c| !is_part(c)).any(|word| word == name)
}

/// The kind of value that a tail expression visibly creates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Makes {
    Future,
    Stream,
}

/// A tail that visibly creates a future or a stream: `async move {…}`, `Box::pin(async {…}) as …`, `stream! {…}`.
pub(crate) struct Tail {
    pub(crate) makes: Makes,
    /// The async block or the macro call itself.
    target: TokenStream,
    before: TokenStream,
    after: TokenStream,
    /// The argument list of `Box::pin`, if the target is inside one.
    pin: Option<Group>,
    /// True if the body has no `return` before the tail, so that the target can be wrapped in place.
    only_exit: bool,
    /// True if the body contains nothing but the tail, so that no code of the body runs before the future is polled.
    pub(crate) is_whole_body: bool,
}

impl Tail {
    /// Returns the tail at the end of a body; `None` if the body does not visibly end in a future or stream.
    pub(crate) fn find(body: &Group) -> Option<Self> {
        let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
        let end = without_boxed(&tokens, without_cast(&tokens));
        let (start, makes, pin) = match target_at(&tokens, end) {
            Some((start, makes)) => (start, makes, None),
            None => pinned_at(&tokens, end)?,
        };
        let path = if pin.is_some() { start_of_path(&tokens, start) } else { start };
        let after_return = path > 0 && is_word(&tokens[path - 1], "return");
        if !starts_statement(&tokens, path) && !after_return {
            return None;
        }
        let target = match &pin {
            Some(group) => without_comma(group.stream()),
            None => tokens[start..end].iter().cloned().collect(),
        };
        let before: TokenStream = tokens[..start].iter().cloned().collect();
        let only_exit = !mentions_word(before.clone(), "return");
        let after = tokens[end..].iter().cloned().collect();
        Some(Self { makes, target, before, after, pin, only_exit, is_whole_body: path == 0 })
    }

    /// Returns whether the body has no `return` before the tail, so that the target can be wrapped in place.
    pub(crate) fn is_only_exit(&self) -> bool {
        self.only_exit
    }

    /// Returns the body with `wrap` applied to the target; `None` if the body has other exits.
    pub(crate) fn rewrite(&self, body: &Group, wrap: impl FnOnce(&TokenStream) -> TokenStream) -> Option<Group> {
        if !self.only_exit {
            return None;
        }
        let mut tokens = self.before.clone();
        let wrapped = wrap(&self.target);
        match &self.pin {
            Some(pin) => tokens.extend([TokenTree::Group(regroup(pin, wrapped))]),
            None => tokens.extend(wrapped),
        }
        tokens.extend(self.after.clone());
        Some(regroup(body, tokens))
    }
}

/// Returns a group with the same delimiters and location, and other tokens.
pub(crate) fn regroup(group: &Group, tokens: TokenStream) -> Group {
    let mut new = Group::new(group.delimiter(), tokens);
    new.set_span(group.span());
    new
}

/// Finds `async {…}`, `async move {…}` or `path::stream! {…}` that ends at `end`; returns its start and the kind of value that it
/// creates.
fn target_at(tokens: &[TokenTree], end: usize) -> Option<(usize, Makes)> {
    match &tokens[..end] {
        [.., word, block] if is_word(word, "async") && is_brace(block) => Some((end - 2, Makes::Future)),
        [.., word, keyword, block] if is_word(word, "async") && is_word(keyword, "move") && is_brace(block) => {
            Some((end - 3, Makes::Future))
        }
        [.., name, bang, TokenTree::Group(_)] if is_punct(bang, '!') && is_stream_macro(name) => {
            Some((start_of_path(tokens, end - 3), Makes::Stream))
        }
        _ => None,
    }
}

/// Finds `Box::pin(target)` that ends at `end`; returns the index of its argument list, the kind of value that the target
/// creates, and the argument list.
fn pinned_at(tokens: &[TokenTree], end: usize) -> Option<(usize, Makes, Option<Group>)> {
    let [.., owner, colon, colon2, function, TokenTree::Group(group)] = &tokens[..end] else {
        return None;
    };
    let is_path = is_punct(colon, ':') && is_punct(colon2, ':');
    if !(is_word(owner, "Box") && is_path && is_word(function, "pin") && group.delimiter() == Delimiter::Parenthesis) {
        return None;
    }
    let inside: Vec<TokenTree> = without_comma(group.stream()).into_iter().collect();
    match target_at(&inside, inside.len()) {
        Some((0, makes)) => Some((end - 1, makes, Some(group.clone()))),
        _ => None,
    }
}

/// Returns the end of the tail without a final `as Type`.
fn without_cast(tokens: &[TokenTree]) -> usize {
    let cast = tokens.iter().rposition(|token| is_word(token, "as") || is_punct(token, ';'));
    match cast {
        Some(at) if is_word(&tokens[at], "as") => at,
        _ => tokens.len(),
    }
}

/// Returns the end of the tail without a final `.boxed()` or `.boxed_local()`.
fn without_boxed(tokens: &[TokenTree], end: usize) -> usize {
    match &tokens[..end] {
        [.., dot, name, call]
            if is_punct(dot, '.')
                && (is_word(name, "boxed") || is_word(name, "boxed_local"))
                && is_group(call, Delimiter::Parenthesis) =>
        {
            end - 3
        }
        _ => end,
    }
}

/// Returns the start of the path `a::b::` that ends at `at`, including a leading `::`. If `at` is an argument list, the word
/// before the list belongs to the path.
fn start_of_path(tokens: &[TokenTree], mut at: usize) -> usize {
    if matches!(tokens.get(at), Some(TokenTree::Group(_))) && at > 0 {
        at -= 1; // From the argument list to the last word of the path.
    }
    while at >= 2 && is_punct(&tokens[at - 1], ':') && is_punct(&tokens[at - 2], ':') {
        at -= 2;
        if at > 0 && matches!(&tokens[at - 1], TokenTree::Ident(word) if word != "return") {
            at -= 1;
        }
    }
    at
}

fn starts_statement(tokens: &[TokenTree], at: usize) -> bool {
    at == 0 || is_punct(&tokens[at - 1], ';') || is_brace(&tokens[at - 1])
}

fn without_comma(tokens: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.pop_if(|token| is_punct(token, ','));
    tokens.into_iter().collect()
}

fn mentions_word(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions_word(group.stream(), name),
        _ => false,
    })
}

fn is_stream_macro(token: &TokenTree) -> bool {
    is_word(token, "stream") || is_word(token, "try_stream")
}

fn is_brace(token: &TokenTree) -> bool {
    is_group(token, Delimiter::Brace)
}

fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

fn is_word(token: &TokenTree, expected: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if *ident == *expected)
}

#[cfg(test)]
mod tests;
