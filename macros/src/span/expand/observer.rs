//! Generates the observer of a value.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ReturnType, Type};

use super::super::model::{Observe, Wrapped};
use super::super::options::{Cover, Field};
use super::super::shape::{inferred, may_be_future};
use super::fields::site_of;
use crate::krate::Krate;

/// Generates the observer of a call's value; `Some(None)` if nothing is observed. `None` if the signature does not name the
/// value's whole type. A boxed future or stream behind another name is covered to its end.
pub(super) fn of_returned(wrapped: &Wrapped) -> Option<Option<TokenStream>> {
    let ReturnType::Type(_, ty) = &wrapped.function.sig.output else { return of_named(wrapped) };
    let constructs = matches!(&wrapped.telemetry.options.cover, Some((Cover::Construct, _)));
    if constructs || !may_be_future(ty) {
        return of_named(wrapped);
    }
    // Has the location of the return type, because an error about an unboxed future points there.
    let site = ty.span().resolved_at(Site::mixed_site());
    let k = wrapped.telemetry.options.krate.private_at(site);
    let named = fully_named(ty)?;
    let tag = Tag::Named(quote_spanned!(site=> #k::Tag::<#named>));
    let parts = if looks(wrapped) { parts(wrapped, &tag, site) } else { Vec::new() };
    let observer = parts.into_iter().reduce(|first, second| quote_spanned!(site=> (#first, #second)));
    let observer = observer.unwrap_or_else(|| quote_spanned!(site=> ()));
    let (cover, future) = (tag.constant("COVER", site), tag.constant("future", site));
    Some(Some(quote_spanned!(site=> #k::Covered(#cover, #future(), #observer))))
}

/// Generates the observer of a call's value for a span without options. `is_result` is true if the type is spelled `Result<..>`.
pub(crate) fn of_type(krate: &Krate, ty: &TokenStream, is_result: bool, site: Site) -> TokenStream {
    if is_result {
        let k = krate.private_as_of(site);
        let tag = quote_spanned!(site=> #k::Tag::<#ty>);
        return quote_spanned!(site=> (#tag::ERRORS, #tag::TYPES, #tag::MESSAGES));
    }
    let site = ty.span().resolved_at(Site::mixed_site());
    let k = krate.private_at(site);
    let tag = quote_spanned!(site=> #k::Tag::<#ty>);
    quote_spanned!(site=> #k::Covered(#tag::COVER, #tag::future(), (#tag::ERRORS, #tag::TYPES, #tag::MESSAGES)))
}

/// Generates the observer of a value; `Some(None)` if nothing is observed. `None` if the signature does not name the value's
/// whole type.
pub(super) fn of_named(wrapped: &Wrapped) -> Option<Option<TokenStream>> {
    if !looks(wrapped) {
        return Some(None);
    }
    let (k, site) = (wrapped.telemetry.options.krate.private_as_of(wrapped.site()), wrapped.site());
    let ty = match &wrapped.function.sig.output {
        ReturnType::Default => quote_spanned!(site=> ()),
        ReturnType::Type(_, ty) => fully_named(ty)?,
    };
    let parts = parts(wrapped, &Tag::Named(quote_spanned!(site=> #k::Tag::<#ty>)), site);
    Some(parts.into_iter().reduce(|first, second| quote_spanned!(site=> (#first, #second))))
}

/// Generates a closure that observes a value whose type only the compiler can infer.
pub(super) fn probe(wrapped: &Wrapped) -> TokenStream {
    let (k, site) = (wrapped.telemetry.options.krate.private(), Site::mixed_site());
    if !looks(wrapped) {
        return quote_spanned!(site=> |_, _| {});
    }
    // States the type if it comes from the signature only and the body may leave it open: `async { Ok(()) }`.
    let ty = [&wrapped.observe, &wrapped.judge].into_iter().find_map(|observe| match observe {
        Observe::Value(Some(ty)) => inferred(ty),
        _ => None,
    });
    let ty = ty.map(|ty| quote_spanned!(site=> : &#ty));
    let tag = Tag::Value(quote_spanned!(site=> #k::Tag::of(__tc_result)));
    let (otherwise, parts) = (otherwise(&k), parts(wrapped, &tag, site));
    quote_spanned!(site=> |__tc_result #ty, __tc_seen| { #otherwise #(__tc_seen.by(#parts, __tc_result);)* })
}

/// Generates the import of the trait `Otherwise`, which has the defaults for types without a more specific `impl`.
pub(crate) fn otherwise(k: &TokenStream) -> TokenStream {
    quote_spanned!(Site::mixed_site()=> use #k::Otherwise as _;)
}

/// The runtime's `Tag` of a type, as an expression: from the type's name, or from a value.
pub(super) enum Tag {
    Named(TokenStream),
    Value(TokenStream),
}

impl Tag {
    /// Generates the constant `name` of the type. From a value, generates a call of the method of that name in lower case.
    fn constant(&self, name: &str, site: Site) -> TokenStream {
        match self {
            Tag::Named(tag) => {
                let name = Ident::new(name, site);
                quote_spanned!(site=> #tag::#name)
            }
            Tag::Value(tag) => {
                let name = Ident::new(&name.to_lowercase(), site);
                quote_spanned!(site=> #tag.#name())
            }
        }
    }

    /// Generates the tag of a future's output or of a stream's items; for other types, the tag of the type itself.
    fn given(&self, site: Site) -> TokenStream {
        match self {
            Tag::Named(tag) => quote_spanned!(site=> #tag::NEW.given()),
            Tag::Value(tag) => tag.clone(),
        }
    }
}

/// Returns the type as written; `None` if it contains `impl Trait`.
pub(super) fn fully_named(ty: &Type) -> Option<TokenStream> {
    let tokens = ty.to_token_stream();
    inferred(ty).filter(|inferred| inferred.to_string() == tokens.to_string())
}

fn looks(wrapped: &Wrapped) -> bool {
    matches!(wrapped.observe, Observe::Value(_)) || matches!(wrapped.judge, Observe::Value(_))
}

/// Generates the observers of errors, attributes and labels. The compiler selects their implementations by the type in `tag`,
/// whatever its spelling.
fn parts(wrapped: &Wrapped, tag: &Tag, site: Site) -> Vec<TokenStream> {
    let options = &wrapped.telemetry.options;
    let errors = options.no_err.is_none().then(|| {
        let (errors, types) = (tag.constant("ERRORS", site), tag.constant("TYPES", site));
        let messages = match &options.no_message {
            Some(_) => {
                let k = options.krate.private_as_of(site);
                quote_spanned!(site=> #k::Unwanted)
            }
            None => tag.constant("MESSAGES", site),
        };
        quote_spanned!(site=> (#errors, #types, #messages))
    });
    let errors = errors.map(|errors| match &options.err_if {
        // Placed at the closure, so that an error about it points there.
        Some(closure) => {
            let tag = tag.given(site);
            quote_spanned!(closure.span().resolved_at(Site::mixed_site())=> #tag.err_if(#errors, #closure))
        }
        None => errors,
    });
    errors.into_iter().chain(values(wrapped, tag)).collect()
}

/// Generates the observers that derive attributes and labels from the value.
pub(super) fn values(wrapped: &Wrapped, tag: &Tag) -> Vec<TokenStream> {
    let results = wrapped.telemetry.metrics.as_ref().map(|metrics| &metrics.results[..]).unwrap_or_default();
    let (options, site) = (&wrapped.telemetry.options, Site::mixed_site());
    let (k, mut values) = (options.krate.private(), Vec::new());
    if !options.result.is_empty() {
        let (tag, sets) = (tag.given(site), set_each(&options.result, "attr", &k));
        values.push(quote_spanned!(site=> #tag.attributes(|__tc_value, __tc_target| { #sets })));
    }
    if !results.is_empty() {
        let (tag, sets) = (tag.given(site), set_each(results, "label", &k));
        values.push(quote_spanned!(site=> #tag.labels(|__tc_value, __tc_target| { #sets })));
    }
    values
}

/// Generates a call of `method` on `__tc_target` for each of `fields`, from the value in `__tc_value`.
fn set_each(fields: &[Field], method: &str, k: &TokenStream) -> TokenStream {
    let (value_of, target) = (ours("__tc_value"), ours("__tc_target"));
    let sets = fields.iter().enumerate().map(|(index, Field { value, alias, .. })| {
        let method = Ident::new(method, alias.span());
        // A variable at the closure: the compiler points there if the closure returns the wrong type.
        let field = format_ident!("__tc_field{index}", span = value.span());
        // The user's closure seems redundant only because of the code generated around it.
        quote_spanned! {site_of(value)=>
            #[allow(clippy::redundant_closure, clippy::redundant_closure_for_method_calls)]
            let #field = #k::apply(#value_of, #value);
            #target.#method::<#alias>(#field);
        }
    });
    sets.collect()
}

fn ours(name: &str) -> Ident {
    Ident::new(name, Site::mixed_site())
}
