//! Helper attributes of derives: `#[tc_label(..)]` and `#[tc_error(..)]`.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Path};

use crate::case::Case;
use crate::diagnostics::Errors;
use crate::krate::Krate;
use crate::suggest;

/// What helper attributes on a type or a variant say.
#[derive(Default)]
pub(crate) struct Helper {
    pub(crate) krate: Krate,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) other: Option<Ident>,
}

/// Reads every `#[name(..)]` among `attrs`; options that are not in `allowed` are mistakes.
pub(crate) fn read(attrs: &[Attribute], name: &str, allowed: &[&str], errors: &mut Errors) -> Helper {
    let mut helper = Helper::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        let result = attr.parse_nested_meta(|meta| {
            let option = meta.path.to_token_stream().to_string();
            if !allowed.contains(&option.as_str()) {
                return Err(syn::Error::new_spanned(&meta.path, suggest::unknown("option", &option, allowed)));
            }
            helper.set(&option, &meta)
        });
        errors.keep(result);
    }
    helper
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
                    return Err(syn::Error::new_spanned(text, "a value cannot be empty"));
                }
                self.rename = Some(text);
            }
            _ => self.other = meta.path.get_ident().cloned(),
        }
        Ok(())
    }
}
