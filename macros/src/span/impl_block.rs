//! `#[tc_span(component = "…")]` on an `impl` block: names the spans of its methods.
//!
//! The block is not parsed and its methods are not expanded here. Only the attributes of the methods are added or completed, so
//! that other attributes of the block, such as `#[async_trait]`, see the methods first, whether these attributes are above or
//! below ours.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, GenericParam, Generics, Meta, Visibility};

use super::attributes::{is_metric, is_span};
use super::body::regroup;
use super::metric::IMPL_PARAMETERS;
use super::options::{self, Options, Place};
use crate::diagnostics::Errors;

/// Returns the errors of the block's own attribute, and the block with the attributes of its methods completed.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let options = options::read(args.clone(), Place::Impl, &mut errors);
    if options.written("component").is_none() && options.name.is_none() {
        let message = "on an `impl` block `tc_span` needs a component: `#[tc_span(component = \"StoreDaemon\")]`";
        errors.add(match args.is_empty() {
            true => syn::Error::new(proc_macro2::Span::call_site(), message),
            false => syn::Error::new_spanned(args, message),
        });
    }
    // Without a component the methods still get names; otherwise each of them would cause another error.
    let component = options.component.as_ref().map_or_else(|| "Component".to_owned(), syn::LitStr::value);
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.pop() {
        let block = Block { component, every: is_trait_impl(&tokens), parameters: parameters(&tokens), options };
        tokens.push(TokenTree::Group(regroup(&body, block.items(body.stream())?)));
    }
    let mut all = errors.into_tokens();
    all.extend(tokens);
    Ok(all)
}

/// Returns whether the header is that of `impl Trait for Type`; the `for` of `for<'a>` does not count.
fn is_trait_impl(header: &[TokenTree]) -> bool {
    header.windows(2).any(|pair| match pair {
        [TokenTree::Ident(word), TokenTree::Punct(punct)] => word == "for" && punct.as_char() != '<',
        [TokenTree::Ident(word), _] => word == "for",
        _ => false,
    })
}

/// Returns the block's parameters that a method may name in types; `None` if the header cannot be parsed, which the compiler
/// reports.
fn parameters(header: &[TokenTree]) -> Option<Vec<Ident>> {
    let start = header.iter().position(|token| matches!(token, TokenTree::Ident(word) if word == "impl"))?;
    let parser = |input: ParseStream| {
        let generics: Generics = input.parse()?;
        input.parse::<TokenStream>().map(|_| generics)
    };
    let generics = parser.parse2(header[start + 1..].iter().cloned().collect()).ok()?;
    let name = |param| match param {
        GenericParam::Type(param) => Some(param.ident),
        GenericParam::Const(param) => Some(param.ident),
        GenericParam::Lifetime(_) => None,
    };
    Some(generics.params.into_iter().filter_map(name).collect())
}

struct Block {
    component: String,
    options: Options,
    parameters: Option<Vec<Ident>>,
    /// True if `methods = pub` includes methods without `pub`: in a trait implementation, methods are as public as the trait.
    every: bool,
}

impl Block {
    fn items(&self, body: TokenStream) -> syn::Result<TokenStream> {
        let parser = |input: ParseStream| {
            let mut items = input.call(Attribute::parse_inner)?.iter().map(ToTokens::to_token_stream).collect();
            while !input.is_empty() {
                self.item(input, &mut items)?;
            }
            Ok(items)
        };
        parser.parse2(body)
    }

    fn item(&self, input: ParseStream, out: &mut TokenStream) -> syn::Result<()> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        let rest = rest_of_item(input)?;
        let Some(name) = function_name(&rest) else {
            out.extend(quote!(#(#attrs)* #vis #(#rest)*));
            return Ok(());
        };
        if self.adds_span(&attrs, &vis, &rest) {
            let (krate, args) = (self.options.krate.root(), self.arguments(TokenStream::new(), Some(name), None));
            // The new attribute has the location of the method's name, because the catalogue should show the method, not the
            // block.
            out.extend(quote_spanned!(name.span()=> #[#krate::tc_span(#args)]));
        }
        for attr in &attrs {
            let is_ours = is_span(attr) || is_metric(attr);
            out.extend(if is_ours { self.completed(attr, name) } else { attr.to_token_stream() });
        }
        out.extend(quote!(#vis #(#rest)*));
        Ok(())
    }

    /// Returns whether `methods = pub` adds a span to this method: if it is public, not `const`, and has no `tc_span`.
    fn adds_span(&self, attrs: &[Attribute], vis: &Visibility, rest: &[TokenTree]) -> bool {
        let public = self.every || matches!(vis, Visibility::Public(_));
        let is_const = matches!(rest.first(), Some(TokenTree::Ident(word)) if word == "const");
        self.options.all_methods.is_some() && public && !is_const && !attrs.iter().any(is_span)
    }

    /// Completes `#[tc_span]` with the name and the crate from the block, and `#[tc_metric]` with the crate and the block's
    /// parameters.
    fn completed(&self, attr: &Attribute, function: &Ident) -> TokenStream {
        let args = match &attr.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(_) => return attr.to_token_stream(),
        };
        let name = is_span(attr).then_some(function);
        let parameters = self.parameters.as_ref().filter(|_| is_metric(attr)).map(|parameters| {
            let option = Ident::new(IMPL_PARAMETERS, proc_macro2::Span::call_site());
            quote!(#option(#(#parameters),*))
        });
        let (path, args) = (attr.path(), self.arguments(args, name, parameters));
        let mut group = Group::new(Delimiter::Bracket, quote!(#path(#args)));
        group.set_span(attr.bracket_token.span.join());
        let pound = &attr.pound_token;
        quote!(#pound #group)
    }

    /// Returns `args` with three additions: a span name derived from `function`, unless `args` has a name or `db`; the block's
    /// `crate`, unless `args` sets it; and the option `parameters`.
    fn arguments(&self, args: TokenStream, function: Option<&Ident>, parameters: Option<TokenStream>) -> TokenStream {
        let starts_with_name = matches!(args.clone().into_iter().next(), Some(TokenTree::Literal(_)));
        let named = starts_with_name || has_option(&args, "db");
        let function = function.filter(|_| !named);
        let name = function.map(|function| options::for_function(&self.component, function, function.span()));
        let krate = (self.options.written("crate").is_some() && !has_option(&args, "crate")).then(|| {
            let path = self.options.krate.root();
            quote!(crate = #path)
        });
        let args = (!args.is_empty()).then(|| without_comma(args));
        let parts = name.map(|name| quote!(#name)).into_iter().chain(args).chain(krate).chain(parameters);
        quote!(#(#parts),*)
    }
}

/// Returns the tokens up to the end of an item: its `;`, or the body of a function or macro call.
fn rest_of_item(input: ParseStream) -> syn::Result<Vec<TokenTree>> {
    let mut tokens: Vec<TokenTree> = Vec::new();
    let mut depth = 0; // A brace between `<` and `>` is a const argument, not a body.
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let after_dash = matches!(tokens.last(), Some(TokenTree::Punct(last)) if last.as_char() == '-');
        let ends = match &token {
            TokenTree::Punct(punct) => {
                match punct.as_char() {
                    '<' => depth += 1,
                    '>' if !after_dash => depth -= 1,
                    _ => {}
                }
                punct.as_char() == ';'
            }
            TokenTree::Group(group) => {
                let is_block = matches!(group.delimiter(), Delimiter::Brace | Delimiter::None);
                is_block && depth == 0 && (function_name(&tokens).is_some() || is_macro_call(&tokens))
            }
            _ => false,
        };
        tokens.push(token);
        if ends {
            break;
        }
    }
    Ok(tokens)
}

/// Returns the name after `fn`, if the item starts with qualifiers and `fn`.
fn function_name(tokens: &[TokenTree]) -> Option<&Ident> {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "fn" => {
                return match tokens.get(at + 1) {
                    Some(TokenTree::Ident(name)) => Some(name),
                    _ => None,
                };
            }
            TokenTree::Ident(word)
                if ["const", "async", "unsafe", "extern", "default"].iter().any(|known| word == known) => {}
            TokenTree::Literal(_) => {}
            _ => return None,
        }
    }
    None
}

fn is_macro_call(tokens: &[TokenTree]) -> bool {
    matches!(tokens.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!')
}

/// Returns whether an option of this name is at the top level of `args`.
fn has_option(args: &TokenStream, name: &str) -> bool {
    let mut at_start = true;
    args.clone().into_iter().any(|token| {
        let found = at_start && matches!(&token, TokenTree::Ident(word) if word == name);
        at_start = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        found
    })
}

fn without_comma(args: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = args.into_iter().collect();
    tokens.pop_if(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
    tokens.into_iter().collect()
}

#[cfg(test)]
mod tests;
