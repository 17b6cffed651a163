//! Helper attributes of derives: `#[tc_label(..)]` and `#[tc_error(..)]`.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Path, Token};

use crate::case::Case;
use crate::diagnostics::Errors;
use crate::krate::Krate;
use crate::suggest;

/// The options of the helper attributes on a type or a variant.
#[derive(Default)]
pub(crate) struct Helper {
    pub(crate) krate: Krate,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) other: Option<Ident>,
}

/// Reads every `#[name(..)]` among `attrs`; options that are not in `allowed` are errors.
pub(crate) fn read(attrs: &[Attribute], name: &str, allowed: &[&str], errors: &mut Errors) -> Helper {
    let (mut helper, mut seen) = (Helper::default(), Vec::new());
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        let result = attr.parse_nested_meta(|meta| {
            let option = meta.path.to_token_stream().to_string();
            if !allowed.contains(&option.as_str()) {
                let message = misplaced(&option).unwrap_or_else(|| suggest::unknown("option", &option, allowed));
                return Err(syn::Error::new_spanned(&meta.path, message));
            }
            if seen.contains(&option) {
                let message = format!("option `{option}` is given twice; keep one of them");
                return Err(syn::Error::new_spanned(&meta.path, message));
            }
            seen.push(option.clone());
            if option != "other" && !meta.input.peek(Token![=]) {
                let message = format!("`{option}` takes a value; write `{option} = ..`");
                return Err(syn::Error::new_spanned(&meta.path, message));
            }
            helper.set(&option, &meta)
        });
        errors.keep(result);
    }
    helper
}

/// Returns the error for an option in the wrong place; `None` if no such option exists.
fn misplaced(option: &str) -> Option<String> {
    Some(match option {
        "rename_all" => "`rename_all` belongs on an enum; to set one name use `rename = \"..\"`".to_owned(),
        "rename" => "`rename` belongs on a variant; to rename all variants use `rename_all = \"..\"`".to_owned(),
        "other" => "`other` belongs on a variant".to_owned(),
        "crate" => "`crate` belongs on the type, not on a variant".to_owned(),
        _ => return None,
    })
}

impl Helper {
    fn set(&mut self, option: &str, meta: &ParseNestedMeta) -> syn::Result<()> {
        match option {
            "crate" => self.krate = Krate::new(meta.value()?.call(Path::parse_mod_style)?.into_token_stream()),
            "rename_all" => {
                let text: LitStr = meta.value()?.parse()?;
                let case = Case::parse(&text.value()).map_err(|message| syn::Error::new_spanned(&text, message))?;
                self.rename_all = Some(case);
            }
            "rename" => {
                let text: LitStr = meta.value()?.parse()?;
                if text.value().is_empty() {
                    return Err(syn::Error::new_spanned(text, "a value cannot be empty; write its text"));
                }
                self.rename = Some(text);
            }
            _ => self.other = meta.path.get_ident().cloned(),
        }
        Ok(())
    }
}
