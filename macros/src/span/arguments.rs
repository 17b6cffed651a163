//! Moves the arguments of a function into the block or the closure that runs its body.
//!
//! The block of an `async fn` rebinds every argument in the order of declaration, just as the compiler does, so that
//! arguments drop in the same order as those of the plain function. The user's own bindings are those of the block: the
//! signature has the same names, but as ours, so that lints about them come once and where their levels are.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Attribute, FnArg, Ident, Meta, Pat, PatIdent, PatType, Receiver, ReceiverKind, Signature, Type};

use super::attributes::{is_cfg, is_lint};
use super::pattern;
use super::shape::{never_drops, peel};

/// Statements that give arguments their names again.
#[derive(Default)]
pub(crate) struct Rebound {
    /// All of them, inside of the async block.
    pub(crate) block: TokenStream,
    /// Those that the fields of the span use and the signature does not bind, where the span begins.
    pub(crate) fields: TokenStream,
}

/// Gives every argument of `sig` a plain name.
///
/// `needed` says whether the fields of the span use a name, which then has to be visible outside of the block too.
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

/// Rebinds, for a closure, the arguments that the body may assign to, as long as no drop moves by that.
///
/// A captured reference keeps the lifetime of the caller, and could not be pointed at a local of the body.
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

/// Has the block take the whole of a variable, and the compiler see that it is used.
///
/// Of `self` the block would otherwise take only those fields that it mentions, and the rest would drop at the call. Of
/// names that only the fields of the span mention, the compiler would say that they are never used.
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
            // A block, because of a bare name clippy would say that it has no effect to bind it to a name with `_`.
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
        // The fields should see values, not references to parts of the argument: so the signature takes it apart, and
        // the block gets all that has a name. What has none drops at the call.
        let (inner, parts) = pattern::split(&mut argument.pat, needed);
        argument.attrs.extend(attrs.allowed());
        rebound.block.extend(quote_spanned!(site=> #attrs let #inner = #parts; #reads));
        return;
    }
    if mentions_needed(&argument.pat, needed) && (reads.is_empty() || !pattern::only_borrows(&argument.pat)) {
        // The signature binds the names for both, and the block takes what it mentions.
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

/// What an argument is called in the signature: as the user calls it, for the documentation, but apart from all of the
/// user's variables; else by a name of ours.
fn outer_name(pat: &Pat, index: usize, taken: &mut Vec<Ident>) -> Ident {
    let site = Span::mixed_site();
    let name = simple(pat).map(|(_, mut name)| {
        name.set_span(name.span().resolved_at(site));
        name
    });
    // Two arguments may have the same name if a macro wrote one of them, and clippy wants `_name` never to be used.
    match name.filter(|name| !name.to_string().starts_with('_') && !taken.contains(name)) {
        Some(name) => {
            taken.push(name.clone());
            name
        }
        None => format_ident!("__tc_arg{index}", span = site),
    }
}

/// Attributes of an argument that its `let` needs.
struct LetAttributes {
    /// `#[cfg]`, which the signature keeps too.
    cfg: Vec<Attribute>,
    /// Lint levels, which only the binding can answer.
    moved: Vec<Attribute>,
}

impl LetAttributes {
    /// What must not be linted at a second binding of the same name; there it is no expectation to be met.
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

/// `name` or `mut name`.
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
