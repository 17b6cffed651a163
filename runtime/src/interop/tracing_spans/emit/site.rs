//! Represents our callsites as callsites of `tracing`. They are never freed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use tracing_core::callsite::{self, Identifier};
use tracing_core::field::{Field, FieldSet, Value, ValueSet};
use tracing_core::{Callsite as TracingCallsite, Dispatch, Interest, Kind, Level, Metadata};

use crate::declare::callsite::Callsite;
use crate::declare::value::OwnedValue;
use crate::record::finished::Attribute;

/// The largest number of fields of a span.
const FIELDS: usize = 32;
const NEVER: u8 = 0;
const SOMETIMES: u8 = 1;
const ALWAYS: u8 = 2;

/// A callsite of `tracing` for one of our callsites and a list of field names.
pub(super) struct Site {
    metadata: OnceLock<Metadata<'static>>,
    interest: AtomicU8,
}

/// The newest site of each of our callsites, by their addresses.
#[derive(Default)]
pub(super) struct Sites(HashMap<usize, Known>);

pub(super) struct Known {
    names: Vec<&'static str>,
    /// `None` after names were added.
    site: Option<&'static Site>,
}

impl Sites {
    /// Returns the site for a span with these attributes, and whether it is new.
    pub(super) fn of(&mut self, callsite: &'static Callsite, attributes: &[Attribute]) -> (&'static Site, bool) {
        let known = self.learn(callsite, attributes);
        let is_new = known.site.is_none();
        (known.site.get_or_insert_with(|| Site::new(callsite, known.names.clone())), is_new)
    }

    /// Adds the names of attributes to the fields of a callsite, for its later spans.
    pub(super) fn learn(&mut self, callsite: &'static Callsite, attributes: &[Attribute]) -> &mut Known {
        let known = self.0.entry(std::ptr::from_ref(callsite).addr()).or_insert_with(|| Known {
            names: callsite.declared_keys().iter().map(|key| key.name).take(FIELDS).collect(),
            site: None,
        });
        let names = attributes.iter().map(|attribute| &attribute.key);
        for name in names.chain(&[Cow::Borrowed("error.type"), Cow::Borrowed("error.message")]) {
            if let Cow::Borrowed(name) = name
                && !known.names.contains(name)
                && known.names.len() < FIELDS
            {
                known.names.push(name);
                known.site = None;
            }
        }
        known
    }
}

impl Site {
    fn new(callsite: &'static Callsite, names: Vec<&'static str>) -> &'static Site {
        let site = Box::leak(Box::new(Site { metadata: OnceLock::new(), interest: AtomicU8::new(SOMETIMES) }));
        let site: &'static Site = site;
        let fields = FieldSet::new(names.leak(), Identifier(site));
        let (file, line) = (Some(callsite.file()), Some(callsite.line()));
        let target = callsite.crate_name();
        site.metadata.get_or_init(|| {
            Metadata::new(callsite.name(), target, Level::INFO, file, line, Some(target), fields, Kind::SPAN)
        });
        site
    }

    /// Registers the callsite with the subscribers. Call it once.
    pub(super) fn register(&'static self) {
        callsite::register(self);
    }

    pub(super) fn is_wanted(&self, dispatch: &Dispatch) -> bool {
        match self.interest.load(Relaxed) {
            NEVER => false,
            ALWAYS => true,
            _ => dispatch.enabled(self.metadata()),
        }
    }

    /// Runs `f` with the attributes that are fields of the callsite.
    pub(super) fn with_values<R>(&self, attributes: &[Attribute], f: impl FnOnce(&ValueSet<'_>) -> R) -> R {
        let fields = self.metadata().fields();
        let lists: Vec<String> = attributes.iter().map(|attribute| list(&attribute.value)).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let found: Vec<(Field, &dyn Value)> = attributes
            .iter()
            .zip(&lists)
            .filter_map(|(attribute, list)| Some((fields.field(&*attribute.key)?, value(&attribute.value, list))))
            .collect();
        let Some((first, _)) = found.first() else { return f(&fields.value_set(&[])) };
        // The array has the largest length, because the length is part of the type. The rest has no value.
        let values: [(&Field, Option<&dyn Value>); FIELDS] =
            std::array::from_fn(|at| found.get(at).map_or((first, None), |(field, value)| (field, Some(*value))));
        f(&fields.value_set(&values))
    }
}

/// Formats a list as text, because `tracing` has no lists. Returns an empty text for other values.
fn list(value: &OwnedValue) -> String {
    match value {
        OwnedValue::StrArray(_) | OwnedValue::I64Array(_) | OwnedValue::F64Array(_) | OwnedValue::BoolArray(_) => {
            value.to_string()
        }
        _ => String::new(),
    }
}

fn value<'a>(value: &'a OwnedValue, list: &'a &'a str) -> &'a dyn Value {
    match value {
        OwnedValue::Bool(value) => value,
        OwnedValue::I64(value) => value,
        OwnedValue::U64(value) => value,
        OwnedValue::F64(value) => value,
        OwnedValue::Str(Cow::Borrowed(value)) => value,
        OwnedValue::Str(Cow::Owned(value)) => value,
        _ => list,
    }
}

impl TracingCallsite for Site {
    fn set_interest(&self, interest: Interest) {
        let interest = match () {
            () if interest.is_never() => NEVER,
            () if interest.is_always() => ALWAYS,
            () => SOMETIMES,
        };
        self.interest.store(interest, Relaxed);
    }

    fn metadata(&self) -> &Metadata<'_> {
        self.metadata.get().expect("it is set before the site is shared")
    }
}
