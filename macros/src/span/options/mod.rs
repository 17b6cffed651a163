//! The options of `#[tc_span(...)]` and `tc_scope!(...)`: grammar, and all checks that do not depend on the function.
//!
//! Parsing continues after a mistake, so that one attribute reports all of its mistakes.

mod ad_hoc;
mod conflicts;
mod database;
mod fields;
mod name;
mod reader;
mod shared;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, LitStr, Signature};

pub(crate) use ad_hoc::AdHoc;
pub(crate) use conflicts::is_only_of_span;
pub(crate) use database::Database;
pub(crate) use fields::{Field, FieldKey, labels};
pub(crate) use name::{for_function, is_right as is_name, missing};
pub(crate) use reader::{path, read, read_function};
pub(crate) use shared::Shared;

use crate::krate::Krate;

/// The place of the options, which determines the allowed ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Function,
    Impl,
    Scope,
}

/// The part of a future or stream that the span of its function covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    /// The future to its end. The clock starts at the first poll, or at the call if part of the body runs there.
    Future,
    /// The stream to its end. The clock starts at the first poll, or at the call if part of the body runs there.
    Stream,
    /// Only the call that creates the future or stream.
    Construct,
}

/// An option without a value, with its location.
pub(crate) type Flag = Option<Ident>;

/// The options, as far as they could be parsed.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    /// True if something else was in the place of the name and was reported, so that the missing name is not a second mistake.
    pub(crate) name_mistaken: bool,
    /// The variant of the runtime's `Kind`.
    pub(crate) kind: Option<Ident>,
    pub(crate) attrs: Vec<Field>,
    pub(crate) result: Vec<Field>,
    pub(crate) share: Vec<Field>,
    pub(crate) links: Vec<Expr>,
    pub(crate) parent: Option<Expr>,
    pub(crate) cover: Option<(Cover, Ident)>,
    pub(crate) no_err: Flag,
    /// The closure that decides which errors count as failures.
    pub(crate) err_if: Option<Expr>,
    pub(crate) no_message: Flag,
    pub(crate) database: Option<Database>,
    pub(crate) needs_parent: Flag,
    /// The seconds between two markers of an open span.
    pub(crate) heartbeat: Option<u32>,
    /// Records the busy time, the time that was spent in polls.
    pub(crate) busy: Flag,
    pub(crate) krate: Krate,
    pub(crate) component: Option<LitStr>,
    /// `methods = pub`: every public method gets a span.
    pub(crate) all_methods: Flag,
    /// The options that were written, to find duplicates and contradictions.
    seen: Vec<Ident>,
}

impl Cover {
    /// Returns the part that the option `name` covers; `None` for other options.
    fn named(name: &str) -> Option<Self> {
        match name {
            "future" => Some(Self::Future),
            "stream" => Some(Self::Stream),
            "construct" => Some(Self::Construct),
            _ => None,
        }
    }
}

impl Options {
    /// Returns the option `name` with its location; `None` if it was not written.
    pub(crate) fn written(&self, name: &str) -> Option<&Ident> {
        self.seen.iter().find(|seen| *seen == name)
    }

    /// Returns the kind of the span, as a variant of the runtime's `Kind`: the given kind, or `Client` for a database call, else
    /// `None`.
    pub(crate) fn kind_variant(&self) -> Option<Ident> {
        let of_database = || self.database.as_ref().map(|_| Ident::new("Client", Span::call_site()));
        self.kind.clone().or_else(of_database)
    }

    /// Returns every expression of the user's that is evaluated when the span begins.
    pub(crate) fn expressions(&self) -> TokenStream {
        let fields = self.attrs.iter().chain(&self.share).map(|field| &field.value);
        let database = self.database.iter().flat_map(|database| &database.parts).map(|part| &part.value);
        let all = fields.chain(database).chain(&self.links).chain(&self.parent);
        all.map(ToTokens::to_token_stream).collect()
    }

    /// Returns the fields of `attrs`, `share` and `result`.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.attrs.iter().chain(&self.share).chain(&self.result)
    }

    /// Determines the types of attributes that are declared where they are recorded, if the tokens of their values show the type.
    pub(crate) fn infer_types(&mut self, signature: Option<&Signature>) {
        for Field { key, value, .. } in self.attrs.iter_mut().chain(&mut self.result) {
            if let FieldKey::AdHoc(ad_hoc) = key {
                ad_hoc.infer_type(value, signature);
            }
        }
    }

    /// Returns whether the span records attributes, database attributes, shared keys or links when it begins.
    pub(crate) fn has_fields(&self) -> bool {
        let database = self.database.is_some();
        database || !(self.attrs.is_empty() && self.share.is_empty() && self.links.is_empty())
    }
}
