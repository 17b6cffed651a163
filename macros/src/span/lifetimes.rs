//! Names the lifetimes that an `async fn` may elide and a `fn` may not: those inside an argument's `impl Trait`.

use proc_macro2::Span;
use quote::format_ident;
use syn::{
    AngleBracketedGenericArguments, FnArg, GenericArgument, GenericParam, Lifetime, LifetimeParam, Path, PathArguments,
    Signature, Type, TypeParamBound,
};

/// Names each elided lifetime in `impl Iterator<Item = &str>` or `impl Into<Cow<'_, str>>` as a parameter of the function.
pub(crate) fn name_elided(sig: &mut Signature) {
    let mut names = Names(Vec::new());
    for argument in &mut sig.inputs {
        if let FnArg::Typed(argument) = argument {
            names.outside(&mut argument.ty);
        }
    }
    for (index, name) in names.0.into_iter().enumerate() {
        sig.generics.params.insert(index, GenericParam::Lifetime(LifetimeParam::new(name)));
    }
}

/// The names given so far.
struct Names(Vec<Lifetime>);

impl Names {
    fn next(&mut self) -> Lifetime {
        let name = format_ident!("__tc_{}", self.0.len(), span = Span::mixed_site());
        self.0.push(Lifetime { apostrophe: Span::mixed_site(), ident: name });
        self.0[self.0.len() - 1].clone()
    }

    /// Visits a type outside of `impl Trait`, whose elided lifetimes are allowed in any function.
    fn outside(&mut self, ty: &mut Type) {
        match ty {
            Type::ImplTrait(opaque) => self.bounds(opaque.bounds.iter_mut()),
            other => each_inner(other, &mut |inner| self.outside(inner)),
        }
    }

    fn inside(&mut self, ty: &mut Type) {
        match ty {
            Type::ImplTrait(opaque) => self.bounds(opaque.bounds.iter_mut()),
            Type::TraitObject(object) => self.bounds(object.bounds.iter_mut()),
            Type::Reference(reference) => {
                match &mut reference.lifetime {
                    Some(lifetime) => self.lifetime(lifetime),
                    none => *none = Some(self.next()),
                }
                self.inside(&mut reference.elem);
            }
            Type::Path(path) => self.path(&mut path.path),
            other => each_inner(other, &mut |inner| self.inside(inner)),
        }
    }

    fn lifetime(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.next();
        }
    }

    fn bounds<'a>(&mut self, bounds: impl Iterator<Item = &'a mut TypeParamBound>) {
        for bound in bounds {
            match bound {
                TypeParamBound::Trait(bound) => self.path(&mut bound.path),
                TypeParamBound::Lifetime(lifetime) => self.lifetime(lifetime),
                _ => {}
            }
        }
    }

    /// Names the elided lifetimes in a path, except those in `Fn(&str)`, which belong to each call.
    fn path(&mut self, path: &mut Path) {
        for segment in &mut path.segments {
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                self.arguments(arguments);
            }
        }
    }

    fn arguments(&mut self, arguments: &mut AngleBracketedGenericArguments) {
        for argument in &mut arguments.args {
            match argument {
                GenericArgument::Lifetime(lifetime) => self.lifetime(lifetime),
                GenericArgument::Type(ty) => self.inside(ty),
                GenericArgument::AssocType(binding) => self.inside(&mut binding.ty),
                GenericArgument::Constraint(constraint) => self.bounds(constraint.bounds.iter_mut()),
                _ => {}
            }
        }
    }
}

/// Calls `f` with the types that a type contains.
fn each_inner(ty: &mut Type, f: &mut dyn FnMut(&mut Type)) {
    match ty {
        Type::Group(group) => f(&mut group.elem),
        Type::Paren(paren) => f(&mut paren.elem),
        Type::Reference(reference) => f(&mut reference.elem),
        Type::Ptr(pointer) => f(&mut pointer.elem),
        Type::Array(array) => f(&mut array.elem),
        Type::Slice(slice) => f(&mut slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(f),
        Type::Path(path) => {
            let arguments = path.path.segments.iter_mut().filter_map(|segment| match &mut segment.arguments {
                PathArguments::AngleBracketed(arguments) => Some(&mut arguments.args),
                _ => None,
            });
            for argument in arguments.flatten() {
                if let GenericArgument::Type(ty) = argument {
                    f(ty);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut sig: Signature = syn::parse_str(text).unwrap();
        name_elided(&mut sig);
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(squeezed(&sig.to_token_stream().to_string()), squeezed(expected));
    }

    #[test]
    fn lifetimes_in_an_opaque_argument_get_names() {
        check("fn f(a: impl I<Item = &str>)", "fn f<'__tc_0>(a: impl I<Item = &'__tc_0 str>)");
        check(
            "fn f<'a, T>(&self, a: &impl Into<Cow<'_, str>>, b: Vec<impl I<Item = (&T, &'a u8)> + '_>)",
            "fn f<'__tc_0, '__tc_1, '__tc_2, 'a, T>(&self, a: &impl Into<Cow<'__tc_0, str>>,
             b: Vec<impl I<Item = (&'__tc_1 T, &'a u8)> + '__tc_2>)",
        );
        check("fn f(a: impl I<Item: J<'_>>)", "fn f<'__tc_0>(a: impl I<Item: J<'__tc_0>>)");
    }

    #[test]
    fn others_stay_as_they_are() {
        for text in
            ["fn f(a: &str, b: Cow<'_, str>)", "fn f(a: impl Fn(&str) -> &str)", "fn f(a: impl I<Item = &'static str>)"]
        {
            check(text, text);
        }
    }
}
