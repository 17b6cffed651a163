//! The checked input of `#[derive(TcLabel)]`.

use proc_macro2::Ident;
use syn::{Data, DataEnum, DeriveInput, Fields, Variant};

use crate::case::Case;
use crate::derive_input;
use crate::diagnostics::Errors;
use crate::krate::Krate;

/// An enum whose variants are the values of a label.
pub(super) struct Derived {
    pub(super) krate: Krate,
    pub(super) name: Ident,
    /// The variants and their texts, all different.
    pub(super) values: Vec<(Ident, String)>,
    /// The variant that stands for unknown texts, if one is marked `other`.
    pub(super) other: Option<Ident>,
    /// False if the input is not an enum, is generic or has fields: then no implementation can be generated.
    pub(super) is_plain: bool,
}

impl Derived {
    /// Reads an enum; adds mistakes to `errors`.
    pub(super) fn new(input: &DeriveInput, errors: &mut Errors) -> Self {
        let helper = derive_input::read(&input.attrs, "tc_label", &["rename_all", "crate"], errors);
        helper.krate.check("#[tc_label(crate = path::to::tracecast)]", errors);
        let mut label =
            Self { krate: helper.krate, name: input.ident.clone(), values: Vec::new(), other: None, is_plain: true };
        if !input.generics.params.is_empty() {
            label.is_plain = false;
            errors.at(
                &input.generics,
                "a label cannot be generic: its values must be known at compile time; remove the parameters",
            );
        }
        let Data::Enum(data) = &input.data else {
            label.is_plain = false;
            errors.at(
                &input.ident,
                "`TcLabel` is for enums without fields; for open values use an `id` key, not a label",
            );
            return label;
        };
        label.variants(data, helper.rename_all.unwrap_or(Case::Snake), errors);
        label
    }

    fn variants(&mut self, data: &DataEnum, case: Case, errors: &mut Errors) {
        if data.variants.is_empty() {
            errors.at(&self.name, "a label needs at least one variant");
        }
        for variant in &data.variants {
            self.variant(variant, case, errors);
        }
    }

    fn variant(&mut self, variant: &Variant, case: Case, errors: &mut Errors) {
        if !matches!(variant.fields, Fields::Unit) {
            self.is_plain = false;
            let message = "a variant of a label cannot have fields, which would make the set of values open; \
                record the field with a separate `id` or `measure` key";
            errors.at(&variant.fields, message);
        }
        let helper = derive_input::read(&variant.attrs, "tc_label", &["rename", "other"], errors);
        let name = variant.ident.to_string();
        let mut text = match &helper.rename {
            Some(text) => text.value(),
            None => case.apply(name.strip_prefix("r#").unwrap_or(&name)),
        };
        if let Some((first, _)) = self.values.iter().find(|(_, known)| *known == text) {
            let message =
                format!("value `{text}` is already used by `{first}`; give one of them `#[tc_label(rename = \"..\")]`");
            errors.at(&variant.ident, message);
            // Uses another text, because the expansion continues and its match arms must differ.
            text = format!("{text} {}", self.values.len());
        }
        match (&helper.other, &self.other) {
            (Some(second), Some(_)) => errors.at(second, "only one variant can be `other`; remove one of them"),
            (Some(_), None) => self.other = Some(variant.ident.clone()),
            _ => {}
        }
        self.values.push((variant.ident.clone(), text));
    }
}
