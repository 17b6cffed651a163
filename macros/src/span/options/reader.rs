//! Parses the options of `tc_span` and `tc_scope!` one by one.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Lit, LitStr, Path, Token};

use super::{Cover, Options, Place, Shared, conflicts, database, fields, name};
use crate::diagnostics::Errors;
use crate::krate::Krate;
use crate::option_list::{end_of_option, equals, no_value, skip_option};
use crate::suggest;

const KINDS: [(&str, &str); 5] = [
    ("client", "Client"),
    ("server", "Server"),
    ("producer", "Producer"),
    ("consumer", "Consumer"),
    ("internal", "Internal"),
];

/// Parses the options that are allowed at `place`; adds mistakes to `errors`.
pub(crate) fn read(tokens: TokenStream, place: Place, errors: &mut Errors) -> Options {
    let options = read_each(tokens, place, errors);
    conflicts::check(&options, "a span", errors);
    options
}

/// Parses the options of a function from its `tc_span`, if it has one, and adds the shared options of its `tc_metric`.
pub(crate) fn read_function(tokens: Option<TokenStream>, shared: Option<&Shared>, errors: &mut Errors) -> Options {
    let what = if tokens.is_some() { "a span" } else { "a metric" };
    let mut options = tokens.map(|tokens| read_each(tokens, Place::Function, errors)).unwrap_or_default();
    if let Some(shared) = shared {
        options.adopt(shared);
    }
    conflicts::check(&options, what, errors);
    options
}

fn read_each(tokens: TokenStream, place: Place, errors: &mut Errors) -> Options {
    let mut reader = Reader { options: Options::default(), place, errors };
    let result = (|input: ParseStream| {
        reader.all(input);
        Ok(())
    })
    .parse2(tokens);
    let options = reader.options;
    errors.keep(result);
    options
}

struct Reader<'a> {
    options: Options,
    place: Place,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn all(&mut self, input: ParseStream) {
        let mut first = true;
        while !input.is_empty() {
            let read = self.one(input, first).and_then(|()| end_of_option(input));
            if let Err(error) = read {
                self.errors.add(error);
                skip_option(input);
            }
            first = false;
        }
    }

    fn one(&mut self, input: ParseStream, first: bool) -> syn::Result<()> {
        if input.peek(LitStr) {
            return self.name(input.parse()?, first);
        }
        if first && self.place != Place::Impl && is_mistaken_name(input) {
            self.options.name_mistaken = true;
            return Err(syn::Error::new_spanned(input.parse::<TokenTree>()?, name::NOT_LITERAL));
        }
        let option = input.call(Ident::parse_any).map_err(|error| {
            syn::Error::new(error.span(), "expected an option, as in `kind = client` or `attrs(keys::artifact = id)`")
        })?;
        let text = option.to_string();
        if let Some(advice) = self.place.misplaced(&text) {
            self.options.name_mistaken |= text == "component";
            return Err(syn::Error::new_spanned(&option, advice));
        }
        if !self.place.allowed().contains(&text.as_str()) {
            return Err(syn::Error::new_spanned(&option, suggest::unknown("option", &text, self.place.allowed())));
        }
        if self.options.written(&text).is_some() {
            self.errors.at(&option, format_args!("option `{text}` is given twice; keep one of them"));
        }
        self.options.seen.push(option.clone());
        self.value(&option, &text, input)
    }

    fn name(&mut self, literal: LitStr, first: bool) -> syn::Result<()> {
        let message = match self.place {
            Place::Impl => Some(name::for_component(&literal.value())),
            _ if self.options.name.is_some() => Some("a span has one name; remove this one".to_owned()),
            _ if !first => Some("the name of the span comes first; move it before the options".to_owned()),
            _ => name::error(&literal.value()),
        };
        let result = message.map_or(Ok(()), |message| Err(syn::Error::new_spanned(&literal, message)));
        self.options.name.get_or_insert(literal);
        result
    }

    fn value(&mut self, option: &Ident, text: &str, input: ParseStream) -> syn::Result<()> {
        match text {
            "attrs" | "share" | "result" | "links" | "db" => self.list(option, text, input)?,
            "kind" | "parent" | "err_if" | "heartbeat" | "crate" | "component" | "methods" => {
                equals(option, input)?;
                self.assigned(text, input)?;
            }
            _ => self.flag(option, text, input)?,
        }
        Ok(())
    }

    /// Parses the content of `option(...)`, in place, so that an error at its end points at its closing bracket.
    fn list(&mut self, option: &Ident, text: &str, input: ParseStream) -> syn::Result<()> {
        if !input.peek(syn::token::Paren) {
            return Err(syn::Error::new_spanned(option, format_args!("`{option}` takes a list; write `{option}(..)`")));
        }
        let inside;
        syn::parenthesized!(inside in input);
        match text {
            "attrs" => self.options.attrs = fields::attributes(&inside, self.errors),
            "share" => self.options.share = fields::shared(&inside, self.errors),
            "result" => self.options.result = fields::results(&inside, self.errors),
            "links" => self.options.links = fields::expressions(&inside, self.errors),
            _ => self.options.database = Some(database::database(option, &inside, self.errors)),
        }
        // Skips the rest after a mistake, so that it causes no second error.
        inside.parse::<TokenStream>().map(drop)
    }

    /// Parses the right side of `option = value`.
    fn assigned(&mut self, text: &str, input: ParseStream) -> syn::Result<()> {
        match text {
            "kind" => self.options.kind = Some(kind(input)?),
            "parent" => self.options.parent = Some(input.parse()?),
            "err_if" => self.options.err_if = Some(input.parse()?),
            "heartbeat" => {
                self.options.heartbeat = Some(seconds(&expect(input, "a duration, as in `heartbeat = \"30s\"`")?)?)
            }
            "crate" => self.options.krate = Krate::new(path(input)?.into_token_stream()),
            "component" => {
                let literal = expect(input, "a name, as in `component = \"StoreDaemon\"`")?;
                self.options.component = Some(component(literal)?);
            }
            _ => self.options.all_methods = Some(public(input)?),
        }
        Ok(())
    }

    fn flag(&mut self, option: &Ident, text: &str, input: ParseStream) -> syn::Result<()> {
        match (text, Cover::named(text)) {
            (_, Some(cover)) => drop(self.options.cover.get_or_insert((cover, option.clone()))),
            ("no_err", _) => self.options.no_err = Some(option.clone()),
            ("busy", _) => self.options.busy = Some(option.clone()),
            ("no_message", _) => self.options.no_message = Some(option.clone()),
            _ => self.options.needs_parent = Some(option.clone()),
        }
        no_value(option, input)
    }
}

/// Returns whether the input is a mistaken form of the name: `NAME`, `names::LOAD`, `name = ".."` or `7`.
fn is_mistaken_name(input: ParseStream) -> bool {
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else { return input.peek(Lit) };
    let known = Place::Function.is_option(&word.to_string());
    word == "name" || !known && (ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![::]))
}

/// Parses a string literal; `what` describes its content in errors.
fn expect(input: ParseStream, what: &str) -> syn::Result<LitStr> {
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), format_args!("expected {what}")))
}

/// Parses the path after `crate =`.
pub(crate) fn path(input: ParseStream) -> syn::Result<Path> {
    let expected = "expected the path of a module or crate, as in `crate = my::telemetry`";
    input.call(Path::parse_mod_style).map_err(|error| syn::Error::new(error.span(), expected))
}

fn kind(input: ParseStream) -> syn::Result<Ident> {
    let expected = "expected a kind: `client`, `server`, `producer`, `consumer` or `internal`";
    let given = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), expected))?;
    match KINDS.iter().find(|(name, _)| given == name) {
        Some((_, variant)) => Ok(Ident::new(variant, proc_macro2::Span::call_site())),
        None => Err(syn::Error::new_spanned(
            &given,
            suggest::unknown("kind", &given.to_string(), &KINDS.map(|(name, _)| name)),
        )),
    }
}

fn component(literal: LitStr) -> syn::Result<LitStr> {
    match name::component_error(&literal.value()) {
        Some(message) => Err(syn::Error::new_spanned(literal, message)),
        None => Ok(literal),
    }
}

fn public(input: ParseStream) -> syn::Result<Ident> {
    let expected = "the only value is `methods = pub`; without it each method opts in with `#[tc_span]`";
    let given = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), expected))?;
    if given == "pub" { Ok(given) } else { Err(syn::Error::new_spanned(given, expected)) }
}

/// Parses `"30s"`, `"5m"` or `"1h"`; returns the seconds, at least one.
fn seconds(literal: &LitStr) -> syn::Result<u32> {
    let text = literal.value();
    let unit = [('s', 1), ('m', 60), ('h', 3600)].into_iter().find(|(unit, _)| text.ends_with(*unit));
    let seconds = unit.and_then(|(unit, factor)| text.strip_suffix(unit)?.parse::<u32>().ok()?.checked_mul(factor));
    match seconds {
        Some(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(syn::Error::new_spanned(
            literal,
            format_args!("`{text}` is not a duration of at least one second, as in \"30s\", \"5m\" or \"1h\""),
        )),
    }
}

#[cfg(test)]
mod tests;
