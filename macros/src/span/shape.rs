//! Classifies types by their spelling: futures and streams, types that are certainly not a `Result`, types without a destructor.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{
    FnArg, GenericArgument, Ident, Pat, PathArguments, PathSegment, ReceiverKind, ReturnType, Signature, Token, Type,
    TypeParamBound, TypePath,
};

const FUTURES: [&str; 3] = ["Future", "TryFuture", "FusedFuture"];
const STREAMS: [&str; 3] = ["Stream", "TryStream", "FusedStream"];

/// Names of types that are neither a `Result` nor a future whose work is still to run. If the user's alias of a `Result` has such
/// a name, its errors are not reported.
const NEVER_RESULT: [&str; 31] = [
    "bool",
    "char",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "String",
    "Vec",
    "Option",
    "Box",
    "Arc",
    "Rc",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "Duration",
    "Instant",
    "PathBuf",
    "JoinHandle",
];

/// The kinds of return types.
pub(crate) enum Shape {
    Nothing,
    Value,
    Future(Made),
    Stream(Made),
}

/// A future or a stream that a function returns.
pub(crate) struct Made {
    /// The output of the future or the item type of the stream, if the signature names it.
    pub(crate) output: Option<Type>,
    /// True for `impl Future` and `impl Stream`, which a wrapper type may replace. Any other return type has to stay.
    pub(crate) opaque: bool,
}

impl Shape {
    pub(crate) fn of(output: &ReturnType) -> Self {
        let ReturnType::Type(_, ty) = output else {
            return Self::Nothing;
        };
        match peel(ty) {
            Type::ImplTrait(opaque) => by_bounds(&opaque.bounds, true).unwrap_or(Self::Value),
            Type::Path(path) => by_path(path).unwrap_or(Self::Value),
            Type::Tuple(tuple) if tuple.elems.is_empty() => Self::Nothing,
            _ => Self::Value,
        }
    }
}

/// Returns whether a value of this type is certainly not a `Result`, so that it is not observed.
pub(crate) fn never_result(ty: &Type) -> bool {
    match peel(ty) {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| is_never_result(&last.ident.to_string())),
        Type::Never(_) | Type::Tuple(_) | Type::Reference(_) | Type::Array(_) | Type::Slice(_) | Type::FnPtr(_) => true,
        Type::Ptr(_) | Type::ImplTrait(_) | Type::TraitObject(_) => true,
        _ => false,
    }
}

/// Returns whether a type whose path ends in this word is certainly not a `Result`.
pub(crate) fn is_never_result(word: &str) -> bool {
    NEVER_RESULT.contains(&word)
}

/// Returns whether a type of this name may be a future or a stream without looking like one: an alias, or an associated type.
pub(crate) fn may_be_future(ty: &Type) -> bool {
    match peel(ty) {
        Type::Path(path) => {
            let last = path.path.segments.last();
            !never_result(ty) && !last.is_some_and(|last| is_result(&last.ident.to_string(), !last.arguments.is_none()))
        }
        _ => false,
    }
}

/// Returns whether a path ends in `Result<..>`. `Result` without arguments, or a name that only ends in `Result`, may be an alias
/// of any type.
pub(crate) fn is_result(word: &str, has_arguments: bool) -> bool {
    word == "Result" && has_arguments
}

/// Names of types that are `Copy`. If the user's own type has such a name and a destructor, it is dropped a little earlier.
const COPY: [&str; 19] = [
    "bool",
    "char",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "Duration",
    "Instant",
    "SystemTime",
];

/// Returns whether no argument has a destructor, judged by the signature. Arguments in `labels` are label values, which are
/// `Copy`; one that is not, because it only converts to a label, would be dropped a little earlier.
pub(crate) fn nothing_to_drop(sig: &Signature, labels: &[&Ident]) -> bool {
    sig.inputs.iter().all(|input| match input {
        FnArg::Receiver(receiver) => matches!(receiver.kind, ReceiverKind::Reference(..)),
        FnArg::Typed(argument) => {
            let is_label = || match &*argument.pat {
                Pat::Ident(pattern) => labels.contains(&&pattern.ident) && could_be_label(&argument.ty),
                _ => false,
            };
            never_drops(&argument.ty) || is_label()
        }
    })
}

/// Returns whether the type may be a label: a path without arguments, except `String`, which interned labels accept although it
/// has a destructor.
fn could_be_label(ty: &Type) -> bool {
    match peel(ty) {
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.arguments.is_none() && last.ident != "String")
        }
        _ => false,
    }
}

/// Returns whether a value of this type has no destructor, as far as its name shows.
pub(crate) fn never_drops(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => true,
        Type::Path(path) => path.path.get_ident().is_some_and(|name| is_copy(&name.to_string())),
        Type::Tuple(tuple) => tuple.elems.iter().all(never_drops),
        Type::Array(array) => never_drops(&array.elem),
        _ => false,
    }
}

/// Returns whether a type of this name is `Copy`.
pub(crate) fn is_copy(name: &str) -> bool {
    COPY.contains(&name)
}

/// Returns whether the type is spelled like a `Result`.
pub(crate) fn named_result(ty: &Type) -> bool {
    matches!(peel(ty), Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Result")))
}

/// Returns the type with `_` for every `impl Trait` in it; `None` if only `_` would remain, or an `impl Trait` cannot be
/// replaced.
pub(crate) fn inferred(ty: &Type) -> Option<TokenStream> {
    let tokens = ty.to_token_stream();
    if !has_impl(tokens.clone()) {
        return Some(tokens);
    }
    let mut ty = ty.clone();
    replace_impl(&mut ty);
    let tokens = ty.to_token_stream();
    (!has_impl(tokens.clone()) && tokens.to_string() != "_").then_some(tokens)
}

/// Returns the type without parentheses and the invisible groups of `macro_rules!`.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        _ => ty,
    }
}

type Bounds = Punctuated<TypeParamBound, Token![+]>;

fn by_bounds(bounds: &Bounds, opaque: bool) -> Option<Shape> {
    bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last()?;
            let made = |name| Made { output: binding(last, name), opaque };
            match last.ident.to_string() {
                name if FUTURES.contains(&name.as_str()) => Some(Shape::Future(made("Output"))),
                name if STREAMS.contains(&name.as_str()) => Some(Shape::Stream(made("Item"))),
                _ => None,
            }
        }
        _ => None,
    })
}

fn by_path(path: &TypePath) -> Option<Shape> {
    let last = path.path.segments.last()?;
    let fixed = |output| Made { output, opaque: false };
    let of_self = path.qself.is_some() || (path.path.segments.len() > 1 && path.path.segments[0].ident == "Self");
    match last.ident.to_string().as_str() {
        "Pin" | "Box" => match peel(first_type(last)?) {
            Type::TraitObject(object) => by_bounds(&object.bounds, false),
            Type::Path(inner) if last.ident == "Pin" => by_path(inner),
            _ => None,
        },
        "BoxFuture" | "LocalBoxFuture" => Some(Shape::Future(fixed(first_type(last).cloned()))),
        "BoxStream" | "LocalBoxStream" => Some(Shape::Stream(fixed(first_type(last).cloned()))),
        name if of_self && name.ends_with("Future") => Some(Shape::Future(fixed(None))),
        name if of_self && name.ends_with("Stream") => Some(Shape::Stream(fixed(None))),
        _ => None,
    }
}

fn first_type(segment: &PathSegment) -> Option<&Type> {
    arguments(segment)?.find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the type in `Trait<name = Type>`.
fn binding(segment: &PathSegment, name: &str) -> Option<Type> {
    arguments(segment)?.find_map(|argument| match argument {
        GenericArgument::AssocType(binding) if binding.ident == name => Some(binding.ty.clone()),
        _ => None,
    })
}

fn arguments(segment: &PathSegment) -> Option<impl Iterator<Item = &GenericArgument>> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter()),
        _ => None,
    }
}

fn replace_impl(ty: &mut Type) {
    match ty {
        Type::ImplTrait(_) => *ty = Type::Verbatim(quote!(_)),
        Type::Group(group) => replace_impl(&mut group.elem),
        Type::Paren(paren) => replace_impl(&mut paren.elem),
        Type::Reference(reference) => replace_impl(&mut reference.elem),
        Type::Array(array) => replace_impl(&mut array.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(replace_impl),
        Type::Path(path) => path.path.segments.iter_mut().for_each(replace_impl_in_arguments),
        _ => {}
    }
}

fn replace_impl_in_arguments(segment: &mut PathSegment) {
    if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
        for argument in &mut arguments.args {
            if let GenericArgument::Type(ty) = argument {
                replace_impl(ty);
            }
        }
    }
}

fn has_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => has_impl(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let output: ReturnType = syn::parse_str(text).unwrap();
        let made = |kind: &str, made: Made| {
            let output = made.output.map(|ty| ty.to_token_stream().to_string()).unwrap_or_default();
            format!("{kind} {output}{}", if made.opaque { " opaque" } else { "" })
        };
        let found = match Shape::of(&output) {
            Shape::Nothing => "nothing".to_owned(),
            Shape::Value => "value".to_owned(),
            Shape::Future(future) => made("future", future),
            Shape::Stream(stream) => made("stream", stream),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn shapes() {
        check("", "nothing");
        check("-> ()", "nothing");
        check("-> Result<u8, E>", "value");
        check("-> impl Send + core::future::Future<Output = u8> + use<'a>", "future u8 opaque");
        check("-> Pin<Box<dyn Future<Output = u8> + Send + 'a>>", "future u8");
        check("-> Box<dyn Future<Output = u8> + Unpin>", "future u8");
        check("-> BoxFuture<'a, u8>", "future u8");
        check("-> Self::Future", "future ");
        check("-> <Self as Service<R>>::Future", "future ");
        check("-> Self::ResponseFuture", "future ");
        check("-> impl Stream<Item = u8>", "stream u8 opaque");
        check("-> futures::stream::BoxStream<'static, u8>", "stream u8");
        check("-> std::net::TcpStream", "value");
        check("-> Box<dyn Fn()>", "value");
    }

    #[test]
    fn impl_is_left_to_inference() {
        let infer = |text| inferred(&syn::parse_str(text).unwrap()).map(|tokens| tokens.to_string().replace(' ', ""));
        assert_eq!(infer("Result<(impl A, u8), E>").unwrap(), "Result<(_,u8),E>");
        assert_eq!(infer("impl A"), None);
        assert_eq!(infer("Box<dyn Iterator<Item = impl A>>"), None);
        assert_eq!(infer("Vec<u8>").unwrap(), "Vec<u8>");
    }

    #[test]
    fn sure_and_unsure_results() {
        let parse = |text| syn::parse_str::<Type>(text).unwrap();
        assert!(
            never_result(&parse("&Result<A, B>"))
                && never_result(&parse("std::vec::Vec<A>"))
                && never_result(&parse("!"))
        );
        assert!(!never_result(&parse("T")) && !never_result(&parse("io::Result<A>")) && !never_result(&parse("Self")));
        assert!(
            named_result(&parse("io::Result<A>"))
                && named_result(&parse("QueryResult"))
                && !named_result(&parse("Option<A>"))
        );
    }

    #[test]
    fn only_a_result_with_arguments_is_surely_no_future() {
        let may_be = |text| may_be_future(&syn::parse_str(text).unwrap());
        assert!(!may_be("Result<A, B>") && !may_be("(io::Result<A>)") && !may_be("Vec<A>") && !may_be("&LoadResult"));
        assert!(may_be("LoadResult") && may_be("LoadResult<A>") && may_be("Self::Result") && may_be("Answer"));
    }
}
