//! Parses the budget of a metric, its maximum number of series, and the buckets of a histogram.

use proc_macro2::{Literal, Span as Site, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Lit, LitInt, Path, Token};

use crate::diagnostics::Errors;

/// The budget and the buckets of a metric, if declared.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) budget: Option<LitInt>,
    pub(crate) buckets: Option<Buckets>,
}

/// The buckets of a histogram.
pub(crate) enum Buckets {
    /// The upper bounds, in increasing order.
    Bounds(Vec<Literal>),
    /// The path of a constant with the bounds.
    Named(Path),
    Exponential,
}

impl Settings {
    /// Generates the call that sets the budget, if there is one.
    pub(crate) fn of_budget(&self) -> Option<TokenStream> {
        self.budget.as_ref().map(|budget| quote_spanned!(Site::mixed_site()=> .budget(#budget)))
    }

    /// Generates the call that sets the buckets, if there are any.
    pub(crate) fn of_buckets(&self) -> Option<TokenStream> {
        let site = Site::mixed_site();
        self.buckets.as_ref().map(|buckets| match buckets {
            Buckets::Bounds(bounds) => quote_spanned!(site=> .buckets(&[#(#bounds),*])),
            // Placed at the path, so that an error about its type points there.
            Buckets::Named(path) => quote_spanned!(path.span().resolved_at(site)=> .buckets(#path)),
            Buckets::Exponential => quote_spanned!(site=> .exponential()),
        })
    }
}

/// Reads the number of series after `budget`.
pub(crate) fn budget(input: ParseStream) -> syn::Result<LitInt> {
    let expected = "expected a number of series above 0, as in `5000`";
    let given: LitInt = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), expected))?;
    match given.base10_parse::<u32>() {
        Ok(1..) if given.suffix().is_empty() => Ok(given),
        _ => Err(syn::Error::new_spanned(given, expected)),
    }
}

/// Reads the bounds after `buckets`: a list of numbers, or the path of a constant. Errors show `example` as a correct form.
pub(crate) fn buckets(input: ParseStream, example: &str, errors: &mut Errors) -> syn::Result<Buckets> {
    if input.peek(syn::token::Bracket) {
        let inside;
        let bracket = syn::bracketed!(inside in input);
        let given = list(&inside, example);
        // Skips the rest after a mistake, so that it causes no second error.
        inside.parse::<TokenStream>()?;
        let given = given?;
        if given.is_empty() {
            return Err(syn::Error::new(bracket.span.join(), "a histogram needs at least one bound, as in `[0.1]`"));
        }
        return Ok(Buckets::Bounds(ascending(given, errors)));
    }
    let expected = "expected upper bounds, as in `[0.1, 1.0, 5.0]`, or the path of a constant of type `&[f64]`";
    let path = input.call(Path::parse_mod_style).map_err(|error| syn::Error::new(error.span(), expected))?;
    Ok(Buckets::Named(path))
}

/// The value and the tokens of a number.
type Bound = (f64, TokenStream);

/// Reads numbers separated by commas.
fn list(input: ParseStream, example: &str) -> syn::Result<Vec<Bound>> {
    let mut given = Vec::new();
    while !input.is_empty() {
        let written = input.fork();
        let bound = bound(input)?;
        // If another number follows, a comma is missing. If anything else follows, the number is part of an expression.
        let is_whole = input.is_empty() || input.peek(Token![,]) || input.peek(Lit);
        given.push(bound.filter(|_| is_whole).ok_or_else(|| computed(&written, example))?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(given)
}

/// Reads the next number; `None` if something else follows, or the number is not finite or has a suffix other than `f64`.
fn bound(input: ParseStream) -> syn::Result<Option<Bound>> {
    let minus: Option<Token![-]> = input.parse()?;
    if !input.peek(Lit) {
        return Ok(None);
    }
    let number: Lit = input.parse()?;
    let value = match &number {
        Lit::Int(number) if number.suffix().is_empty() => number.base10_parse::<f64>().ok(),
        Lit::Float(number) if matches!(number.suffix(), "" | "f64") => number.base10_parse::<f64>().ok(),
        _ => None,
    };
    Ok(value.filter(|value| value.is_finite()).map(|value| match minus {
        Some(minus) => (-value, quote_spanned!(number.span()=> #minus #number)),
        None => (value, number.into_token_stream()),
    }))
}

/// Returns the error for an expression in place of a number, located at the whole expression.
fn computed(input: ParseStream, example: &str) -> syn::Error {
    let mut written = TokenStream::new();
    while !input.is_empty() && (written.is_empty() || !input.peek(Token![,])) {
        written.extend(input.parse::<TokenTree>());
    }
    let message = format!("expected a number, as in `0.5`; put computed bounds into a constant: `{example}`");
    syn::Error::new_spanned(written, message)
}

/// Returns the bounds as `f64` literals; reports and leaves out a bound that does not exceed the previous one.
fn ascending(given: Vec<Bound>, errors: &mut Errors) -> Vec<Literal> {
    let (mut bounds, mut last): (Vec<Literal>, Option<f64>) = (Vec::new(), None);
    for (value, written) in given {
        match last {
            Some(last) if value == last => {
                errors.at(&written, format_args!("bound `{value}` is listed twice; remove one of them"));
            }
            Some(last) if value < last => {
                errors.at(&written, format_args!("bounds must increase, and `{value}` follows `{last}`; sort them"));
            }
            _ => {
                last = Some(value);
                let mut literal = Literal::f64_unsuffixed(value);
                literal.set_span(written.span());
                bounds.push(literal);
            }
        }
    }
    bounds
}

/// The error for declaring both kinds of buckets.
pub(crate) const CONTRADICTION: &str =
    "`exponential` contradicts `buckets`: a histogram has one kind of buckets; keep one of them";
