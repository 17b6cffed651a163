//! Handles command-line arguments that print or compare the catalogue.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use super::CatalogueData;
use crate::catalogue::list::catalogue;

const SHOW: &str = "--telemetry-catalogue";
const COMPARE: &str = "--telemetry-catalogue-compare";
const ALLOW: &str = "--telemetry-catalogue-allow";

/// Handles command-line arguments about the catalogue. Returns the exit code of the program; `None` if there is no such
/// argument. Call this function first in `main`, with all arguments:
///
/// ```
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     if let Some(code) = tracecast::catalogue::handle_arguments(std::env::args_os()) {
///         return code;
///     }
///     let _telemetry = tracecast::init();
///     // the program
///     ExitCode::SUCCESS
/// }
/// ```
///
/// | argument | effect |
/// |---|---|
/// | `--telemetry-catalogue`, or `=markdown` | prints the catalogue as Markdown |
/// | `--telemetry-catalogue=json` | prints the catalogue as JSON, to keep for later comparisons |
/// | `--telemetry-catalogue=grafana` | prints a dashboard that Grafana can import |
/// | `--telemetry-catalogue-compare FILE` | compares with JSON printed earlier; the code is 1 if there are breaking changes |
/// | `--telemetry-catalogue-allow N` | with `compare`: allows up to `N` more series, 0 by default |
///
/// `FILE` and `N` may also follow a `=`. Arguments after `--` are ignored. On an error the reason is printed to standard
/// error, and the code is 2.
pub fn handle_arguments<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Option<ExitCode> {
    let answer = match asked(arguments.into_iter().map(Into::into)) {
        Ok(None) => return None,
        Ok(Some(asked)) => asked.answer(),
        Err(wrong) => Err(wrong),
    };
    let (text, code) = match answer {
        Ok(answer) => answer,
        Err(wrong) => {
            let _ = writeln!(std::io::stderr(), "error: {wrong}");
            return Some(ExitCode::from(2));
        }
    };
    // The reader may close the pipe early.
    let is_written = std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()).is_ok();
    Some(if is_written { ExitCode::from(code) } else { ExitCode::FAILURE })
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Markdown,
    Json,
    Grafana,
}

#[derive(Debug, PartialEq)]
enum Asked {
    Show(Form, String),
    Compare(OsString, u64),
}

impl Asked {
    /// Returns the text to print, and the exit code.
    fn answer(self) -> Result<(String, u8), String> {
        let catalogue = catalogue();
        match self {
            Asked::Show(Form::Markdown, _) => Ok((catalogue.to_markdown(), 0)),
            Asked::Show(Form::Json, _) => Ok((catalogue.data().to_json(), 0)),
            Asked::Show(Form::Grafana, title) => Ok((catalogue.data().to_grafana(&title), 0)),
            Asked::Compare(file, allowed) => {
                let file = Path::new(&file);
                let text = std::fs::read_to_string(file)
                    .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
                let before = CatalogueData::from_json(&text).map_err(|error| format!("{}: {error}", file.display()))?;
                let comparison = catalogue.data().compare(&before, allowed);
                Ok((comparison.to_string(), u8::from(!comparison.passes())))
            }
        }
    }
}

/// Parses the arguments about the catalogue; `None` if there are none.
fn asked(arguments: impl Iterator<Item = OsString>) -> Result<Option<Asked>, String> {
    let mut arguments = arguments.peekable();
    let program = arguments.next().unwrap_or_default();
    let (mut show, mut file, mut allowed) = (None, None, None);
    while let Some(argument) = arguments.next_if(|argument| argument != "--") {
        // Arguments that are not Unicode belong to the program.
        let Some(text) = argument.to_str().filter(|text| text.starts_with(SHOW)) else { continue };
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.into())));
        let mut value = || value.clone().or_else(|| arguments.next()).ok_or(format!("{name} requires a value"));
        match name {
            SHOW => show = Some(form(text)?),
            COMPARE => file = Some(value()?),
            ALLOW => allowed = Some(series(&value()?)?),
            // An argument of the program, such as `--telemetry-catalogues`.
            _ if !name[SHOW.len()..].starts_with('-') => {}
            _ => return Err(format!("{name} is unknown; expected {SHOW}, {COMPARE} or {ALLOW}")),
        }
    }
    match (show, file, allowed) {
        (None, None, None) => Ok(None),
        (Some(form), None, None) => Ok(Some(Asked::Show(form, title(&program)))),
        (None, Some(file), allowed) => Ok(Some(Asked::Compare(file, allowed.unwrap_or(0)))),
        (Some(_), Some(_), _) => Err(format!("{SHOW} and {COMPARE} cannot be combined")),
        (_, None, Some(_)) => Err(format!("{ALLOW} requires {COMPARE}")),
    }
}

fn form(argument: &str) -> Result<Form, String> {
    match argument.split_once('=').map_or("markdown", |(_, form)| form) {
        "markdown" => Ok(Form::Markdown),
        "json" => Ok(Form::Json),
        "grafana" => Ok(Form::Grafana),
        other => Err(format!("{SHOW}: `{other}` is not a format; expected markdown, json or grafana")),
    }
}

fn series(value: &OsString) -> Result<u64, String> {
    let number = value.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        format!("{ALLOW}: `{}` is not a number of series; expected a whole number, such as 20", value.display())
    })
}

/// Returns the file name of the program without its extension, and `telemetry` if there is none.
fn title(program: &OsString) -> String {
    Path::new(program).file_stem().map_or_else(|| "telemetry".to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, expected: Result<Option<Asked>, &str>) {
        let arguments = ["/bin/store"].into_iter().chain(arguments.split_whitespace()).map(OsString::from);
        assert_eq!(asked(arguments), expected.map_err(str::to_owned));
    }

    #[test]
    fn arguments_of_the_program_are_left_alone() {
        check("", Ok(None));
        check("serve --port 1 --telemetry --telemetry-catalogues=x", Ok(None));
        check("run -- --telemetry-catalogue", Ok(None));
        assert_eq!(asked(std::iter::empty()), Ok(None));
    }

    #[test]
    fn the_catalogue_has_three_forms() {
        let show = |form| Ok(Some(Asked::Show(form, "store".to_owned())));
        check("serve --telemetry-catalogue --verbose", show(Form::Markdown));
        check("--telemetry-catalogue=markdown", show(Form::Markdown));
        check("--telemetry-catalogue=json", show(Form::Json));
        check("--telemetry-catalogue=grafana", show(Form::Grafana));
        let wrong = "--telemetry-catalogue: `xml` is not a format; expected markdown, json or grafana";
        check("--telemetry-catalogue=xml", Err(wrong));
    }

    #[test]
    fn a_comparison_needs_a_file() {
        let compare = |allowed| Ok(Some(Asked::Compare("old.json".into(), allowed)));
        check("--telemetry-catalogue-compare old.json", compare(0));
        check("--telemetry-catalogue-compare=old.json --telemetry-catalogue-allow=7", compare(7));
        check("--telemetry-catalogue-allow 8 --telemetry-catalogue-compare old.json", compare(8));
        check("--telemetry-catalogue-compare", Err("--telemetry-catalogue-compare requires a value"));
        let few = "--telemetry-catalogue-allow: `few` is not a number of series; expected a whole number, such as 20";
        check("--telemetry-catalogue-allow few", Err(few));
        let alone = "--telemetry-catalogue-allow requires --telemetry-catalogue-compare";
        check("--telemetry-catalogue-allow=1", Err(alone));
        let both = "--telemetry-catalogue and --telemetry-catalogue-compare cannot be combined";
        check("--telemetry-catalogue --telemetry-catalogue-compare=x", Err(both));
        let known = "--telemetry-catalogue-diff is unknown; expected --telemetry-catalogue, \
                     --telemetry-catalogue-compare or --telemetry-catalogue-allow";
        check("--telemetry-catalogue-diff", Err(known));
    }
}
