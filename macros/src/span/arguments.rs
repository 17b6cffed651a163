//! Moves the arguments of a function into the block or the closure that runs its body.
//!
//! The block of an `async fn` rebinds every argument in the order of declaration, as the compiler does, so that arguments are
//! dropped in the same order as in the plain function. The user's own bindings are those in the block. The names in the signature
//! are the same but have our hygiene, so that each lint is reported once, where its level is set.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Attribute, FnArg, Ident, Meta, Pat, PatIdent, PatType, Receiver, ReceiverKind, Signature, Type};

use super::attributes::{is_cfg, is_lint};
use super::pattern;
use super::shape::{never_drops, peel};

/// Statements that bind the arguments to their names again.
#[derive(Default)]
pub(crate) struct Rebound {
    /// The bindings for the start of the async block.
    pub(crate) block: TokenStream,
    /// The bindings that the span's fields use and the signature does not provide. They are generated where the span begins.
    pub(crate) fields: TokenStream,
}

/// Gives the arguments of `sig` plain names where possible; returns the statements that bind the user's patterns again.
///
/// `needed` returns whether the span's fields use a name, which then has to be visible outside the block too.
pub(crate) fn rebind(sig: &mut Signature, needed: impl Fn(&str) -> bool) -> Rebound {
    let mut rebound = Rebound::default();
    let mut taken = Vec::new();
    for (index, argument) in sig.inputs.iter_mut().enumerate() {
        match argument {
            FnArg::Receiver(receiver) if by_value(receiver) => rebound.block.extend(read(&receiver.self_token)),
            FnArg::Receiver(_) => {}
            FnArg::Typed(argument) => {
                let outer = outer_name(&argument.pat, index, &mut taken);
                rebind_one(argument, &outer, &needed, &mut rebound);
            }
        }
    }
    rebound
}

/// Rebinds, for a closure, the arguments that the body may assign to, if that does not change when they are dropped.
///
/// Without a new binding the closure captures the argument with the caller's lifetime, and the body could not assign a reference
/// to a local variable to it. Arguments whose pattern contains `ref` are not rebound.
pub(crate) fn rebind_mutable(sig: &mut Signature) -> TokenStream {
    let mut statements = TokenStream::new();
    let mut taken = Vec::new();
    for (index, argument) in sig.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(argument) = argument
            && pattern::binds_mutable(&argument.pat)
            && never_drops(&argument.ty)
        {
            let attrs = split_attributes(&mut argument.attrs);
            let outer = outer_name(&argument.pat, index, &mut taken);
            let pat = std::mem::replace(&mut *argument.pat, plain(&outer));
            statements.extend(quote_spanned!(Span::mixed_site()=> #attrs let #pat = #outer;));
        }
    }
    statements
}

/// Generates a statement that makes the block capture the whole of a variable, and marks the variable as used.
///
/// Otherwise the block would capture only the fields of `self` that it mentions, and the rest would be dropped at the call. For
/// names that only the span's fields mention, the compiler would warn that they are unused.
fn read(name: &impl ToTokens) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> let _ = &#name;)
}

fn by_value(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Typed(_, ty) => !matches!(peel(ty), Type::Reference(_)),
        ReceiverKind::Value => true,
        _ => false,
    }
}

fn rebind_one(argument: &mut PatType, outer: &Ident, needed: &impl Fn(&str) -> bool, rebound: &mut Rebound) {
    let site = Span::mixed_site();
    let attrs = split_attributes(&mut argument.attrs);
    match simple(&argument.pat) {
        Some((mutable, name)) if needed(&name.to_string()) => {
            *argument.pat = plain(&name);
            argument.attrs.extend(attrs.allowed());
            let (cfg, read) = (&attrs.cfg, read(&name));
            rebound.block.extend(quote_spanned!(site=> #attrs let #mutable #name = #name; #(#cfg)* #read));
        }
        Some((mutable, name)) => {
            *argument.pat = plain(outer);
            // In a block, because clippy warns that binding a bare name to a name with `_` has no effect.
            let value = match name.to_string().starts_with('_') {
                true => quote_spanned!(site=> { #outer }),
                false => outer.to_token_stream(),
            };
            rebound.block.extend(quote_spanned!(site=> #attrs let #mutable #name = #value;));
        }
        None => rebind_pattern(argument, &attrs, outer, needed, rebound),
    }
}

fn rebind_pattern(
    argument: &mut PatType,
    attrs: &LetAttributes,
    outer: &Ident,
    needed: &impl Fn(&str) -> bool,
    rebound: &mut Rebound,
) {
    let (site, cfg) = (Span::mixed_site(), &attrs.cfg);
    let read = |name| {
        let read = read(name);
        quote_spanned!(site=> #(#cfg)* #read)
    };
    let names = pattern::names(&argument.pat);
    let reads: TokenStream = names.iter().filter(|name| needed(&name.to_string())).map(read).collect();
    if !reads.is_empty() && pattern::only_takes(&argument.pat) {
        // The fields should see values and not references to parts of the argument. So the signature destructures the argument,
        // and the block captures the named parts. Parts without a name are dropped at the call.
        let (inner, parts) = pattern::split(&mut argument.pat, needed);
        argument.attrs.extend(attrs.allowed());
        rebound.block.extend(quote_spanned!(site=> #attrs let #inner = #parts; #reads));
        return;
    }
    if mentions_needed(&argument.pat, needed) && (reads.is_empty() || !pattern::only_borrows(&argument.pat)) {
        // The signature binds the names for the fields and for the block, which captures the names that it mentions.
        argument.attrs.extend(attrs.moved.iter().cloned());
        return;
    }
    let pat = std::mem::replace(&mut *argument.pat, plain(outer));
    let mutable = pattern::borrows_mutably(&pat).then(|| quote_spanned!(site=> mut));
    if !reads.is_empty() {
        let (allowed, reads) = (attrs.allowed(), names.iter().map(read));
        *argument.pat = Pat::Verbatim(quote_spanned!(site=> #mutable #outer));
        rebound.fields.extend(quote_spanned!(site=> #(#cfg)* #(#allowed)* let #pat = #outer; #(#reads)*));
    }
    rebound.block.extend(quote_spanned!(site=> #(#cfg)* let #mutable #outer = #outer;));
    if !matches!(pat, Pat::Wild(_)) {
        rebound.block.extend(quote_spanned!(site=> #attrs let #pat = #outer; #reads));
    }
}

/// Returns the name of an argument in the signature. The user's name is kept for the documentation, with our hygiene, which
/// separates it from the user's variables. A pattern, a name that starts with `_` and a repeated name are replaced by a generated
/// name.
fn outer_name(pat: &Pat, index: usize, taken: &mut Vec<Ident>) -> Ident {
    let site = Span::mixed_site();
    let name = simple(pat).map(|(_, mut name)| {
        name.set_span(name.span().resolved_at(site));
        name
    });
    // Two arguments may have the same name if a macro wrote one of them, and clippy rejects uses of `_name`.
    match name.filter(|name| !name.to_string().starts_with('_') && !taken.contains(name)) {
        Some(name) => {
            taken.push(name.clone());
            name
        }
        None => format_ident!("__tc_arg{index}", span = site),
    }
}

/// Attributes of an argument that apply to its `let`.
struct LetAttributes {
    /// `#[cfg]`, which also remains in the signature.
    cfg: Vec<Attribute>,
    /// Lint levels, which apply to the binding only.
    moved: Vec<Attribute>,
}

impl LetAttributes {
    /// Returns the `allow` and `expect` levels for a second binding of the same name, all as `allow`, because only one binding
    /// can meet an expectation.
    fn allowed(&self) -> Vec<Attribute> {
        let levels = self.moved.iter().filter(|attr| attr.path().is_ident("allow") || attr.path().is_ident("expect"));
        let lists = levels.filter_map(|attr| match &attr.meta {
            Meta::List(list) => Some(&list.tokens),
            _ => None,
        });
        lists.map(|lints| syn::parse_quote_spanned!(Span::mixed_site()=> #[allow(#lints)])).collect()
    }
}

impl ToTokens for LetAttributes {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.cfg.iter().chain(&self.moved).for_each(|attr| attr.to_tokens(tokens));
    }
}

fn split_attributes(attrs: &mut Vec<Attribute>) -> LetAttributes {
    let moved = attrs.extract_if(.., |attr| is_lint(attr)).collect();
    LetAttributes { cfg: attrs.iter().filter(|attr| is_cfg(attr)).cloned().collect(), moved }
}

/// Returns the `mut`, if any, and the name of the pattern `name` or `mut name`; `None` for other patterns.
fn simple(pat: &Pat) -> Option<(TokenStream, Ident)> {
    match pat {
        Pat::Ident(PatIdent { by_ref: None, mutability, ident, subpat: None, .. }) => {
            Some((mutability.to_token_stream(), ident.clone()))
        }
        _ => None,
    }
}

fn plain(ident: &Ident) -> Pat {
    Pat::Verbatim(ident.to_token_stream())
}

fn mentions_needed(pat: &Pat, needed: &impl Fn(&str) -> bool) -> bool {
    words(pat.to_token_stream()).iter().any(|word| needed(word))
}

fn words(tokens: TokenStream) -> Vec<String> {
    let words = tokens.into_iter().map(|token| match token {
        proc_macro2::TokenTree::Ident(ident) if ident != "_" => vec![ident.to_string()],
        proc_macro2::TokenTree::Group(group) => words(group.stream()),
        _ => Vec::new(),
    });
    words.flatten().collect()
}

#[cfg(test)]
mod tests;
