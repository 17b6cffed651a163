//! The commands of this repository. `cargo xtask` alone lists them.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::Value;

/// A command that runs a program in a folder, with further arguments behind its own.
struct Shortcut {
    name: &'static str,
    folder: &'static str,
    line: &'static [&'static str],
    purpose: &'static str,
}

const SHORTCUTS: [Shortcut; 10] = [
    shortcut("demo", "", &["cargo", "run", "--release", "-p", "tracecast-examples", "--"], "runs the demo"),
    shortcut("test", "", &["cargo", "test", "--workspace"], "runs the tests, or those that match the arguments"),
    shortcut(
        "lint",
        "",
        &["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        "runs clippy as `.ci/run` does",
    ),
    shortcut(
        "documents",
        "",
        &[".ci/documents"],
        "checks the documents; `--write` updates the figures that they quote",
    ),
    shortcut("surface", "", &[".ci/surface"], "compares the public items with the list; `--write` updates it"),
    shortcut("picture", "", &[".ci/picture"], "makes the picture of the demo's page"),
    shortcut("book", "", &["mdbook", "serve", "book"], "shows the book"),
    shortcut("bench", "benches", &["cargo", "run", "--release", "--"], "measures; `--quick` takes seconds"),
    shortcut("ci", "", &[".ci/run"], "runs everything a change has to pass; `--install` installs tools"),
    shortcut("nightly", "", &[".ci/nightly"], "runs the checks that take longer"),
];

const fn shortcut(
    name: &'static str,
    folder: &'static str,
    line: &'static [&'static str],
    purpose: &'static str,
) -> Shortcut {
    Shortcut { name, folder, line, purpose }
}

const RELEASING: [(&str, &str); 3] = [
    ("release", "publishes the packages; `--dry-run` only checks and packs them"),
    ("docs", "builds their documentation as docs.rs does"),
    ("list", "prints their names in publishing order"),
];

fn usage() -> String {
    let mut text = "usage: cargo xtask COMMAND [ARGUMENTS]\n".to_owned();
    for (name, purpose) in SHORTCUTS.iter().map(|known| (known.name, known.purpose)).chain(RELEASING) {
        text.push_str(&format!("\n  {name:<10} {purpose}"));
    }
    text
}

/// The one pair whose versions must be equal: generated code uses private items of the runtime.
const PINNED: (&str, &str) = ("tracecast", "tracecast-macros");

type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => {
            println!("{}", usage());
            Ok(())
        }
        ["release", "--dry-run"] => Workspace::read().and_then(|workspace| release(&workspace, true)),
        ["release"] => Workspace::read().and_then(|workspace| release(&workspace, false)),
        ["docs"] => Workspace::read().and_then(|workspace| docs(&workspace)),
        ["list"] => Workspace::read().map(|workspace| {
            workspace.packages.iter().for_each(|package| println!("{}", package.name));
        }),
        [name, ref rest @ ..] => match SHORTCUTS.iter().find(|known| known.name == name) {
            Some(known) => known.run(rest),
            None => Err(format!("unknown arguments `{}`\n{}", arguments.join(" "), usage())),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Shortcut {
    fn run(&self, arguments: &[&str]) -> Result<()> {
        // `.cargo/config.toml` of the repository is what makes `cargo xtask` work, so its folder is above this one.
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        run(Command::new(self.line[0]).args(&self.line[1..]).args(arguments).current_dir(root.join(self.folder)))
    }
}

/// The published packages of the workspace, dependencies first.
struct Workspace {
    root: PathBuf,
    target: PathBuf,
    packages: Vec<Package>,
}

struct Package {
    name: String,
    version: String,
    /// Other published packages that it needs in a build, with the accepted versions.
    needs: Vec<(String, String)>,
    metadata: Value,
}

impl Workspace {
    fn read() -> Result<Self> {
        let metadata = output("cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("`cargo metadata`: {error}"))?;
        Ok(Self {
            root: text(&metadata["workspace_root"]).into(),
            target: text(&metadata["target_directory"]).into(),
            packages: in_publishing_order(published(list(&metadata["packages"])))?,
        })
    }
}

/// `publish` is null unless the manifest restricts it; `publish = false` is an empty list of registries.
fn published(packages: &[Value]) -> Vec<Package> {
    let published: Vec<&Value> = packages.iter().filter(|package| package["publish"].is_null()).collect();
    let is_published = |name: &Value| published.iter().any(|package| package["name"] == *name);
    let package = |package: &&Value| Package {
        name: text(&package["name"]),
        version: text(&package["version"]),
        needs: list(&package["dependencies"])
            .iter()
            .filter(|needed| needed["kind"] != "dev" && is_published(&needed["name"]))
            .map(|needed| (text(&needed["name"]), text(&needed["req"])))
            .collect(),
        metadata: (*package).clone(),
    };
    published.iter().map(package).collect()
}

/// Sorts dependencies before their users, otherwise by name.
fn in_publishing_order(mut rest: Vec<Package>) -> Result<Vec<Package>> {
    rest.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered: Vec<Package> = Vec::new();
    while !rest.is_empty() {
        let is_ready =
            |package: &Package| package.needs.iter().all(|(name, _)| ordered.iter().any(|done| done.name == *name));
        let Some(next) = rest.iter().position(is_ready) else {
            let names: Vec<&str> = rest.iter().map(|package| package.name.as_str()).collect();
            return Err(format!(
                "{} depend on each other; expected an order in which they can be published",
                names.join(", ")
            ));
        };
        ordered.push(rest.remove(next));
    }
    Ok(ordered)
}

fn release(workspace: &Workspace, dry_run: bool) -> Result<()> {
    let packages = &workspace.packages;
    let Some(version) = packages.first().map(|package| package.version.as_str()) else {
        return Err("no package is published; expected packages without `publish = false`".to_owned());
    };
    let mut problems = Vec::new();
    for package in packages {
        problems.extend(problems_of(package, version));
    }
    let changelog =
        fs::read_to_string(workspace.root.join("CHANGELOG.md")).map_err(|error| format!("CHANGELOG.md: {error}"))?;
    let date = if dry_run { None } else { Some(output("git", &["log", "-1", "--format=%cs"])?) };
    problems.extend(changelog_problem(&changelog, version, date.as_deref()));
    if !dry_run {
        problems.extend(checkout_problems(version)?);
    }
    if !problems.is_empty() {
        return Err(problems.join("\nerror: "));
    }

    pack(packages, dry_run)?;
    for (index, package) in packages.iter().enumerate() {
        let file = format!("{}-{version}.crate", package.name);
        let bytes = fs::metadata(workspace.target.join("package").join(&file))
            .map_err(|error| format!("{file}: {error}"))?
            .len();
        println!("{}. {} {version}: {bytes} bytes", index + 1, package.name);
    }
    if dry_run {
        println!("dry run: nothing is published");
        return Ok(());
    }
    for (index, package) in packages.iter().enumerate() {
        run(Command::new("cargo").args(["publish", "--package", &package.name])).map_err(|error| {
            let rest: Vec<&str> = packages[index..].iter().map(|package| package.name.as_str()).collect();
            format!("{error}; not published, in this order: {}", rest.join(", "))
        })?;
    }
    Ok(())
}

/// What keeps a package from being published as `version`.
fn problems_of(package: &Package, version: &str) -> Vec<String> {
    let name = &package.name;
    let mut problems = Vec::new();
    if package.version != version {
        problems.push(format!("{name} has version {}; expected {version}, as the others have", package.version));
    }
    for (needed, found) in &package.needs {
        let pin = if (name.as_str(), needed.as_str()) == PINNED { "=" } else { "^" };
        if *found != format!("{pin}{version}") {
            problems.push(format!("{name} depends on {needed} `{found}`; expected `{pin}{version}`"));
        }
    }
    for field in ["description", "license", "repository", "documentation", "readme", "keywords", "categories"] {
        let value = &package.metadata[field];
        if value.is_null() || value.as_array().is_some_and(Vec::is_empty) {
            problems.push(format!("{name} has no `{field}`; expected it in the section [package] of its Cargo.toml"));
        }
    }
    problems
}

/// The newest section must be that of the version, with the date of its commit; a dry run may be unreleased.
fn changelog_problem(changelog: &str, version: &str, date: Option<&str>) -> Option<String> {
    const UNRELEASED: &str = "## [Unreleased]";
    let found = changelog.lines().find(|line| line.starts_with("## ")).unwrap_or("no section");
    let of_release = |date: &str| format!("## [{version}] - {date}");
    let (is_right, expected) = match date {
        Some(date) => (found == of_release(date), format!("`{}`, the date of the commit", of_release(date))),
        None => {
            let dated = found.strip_prefix(&of_release("")).is_some_and(is_date);
            (dated || found == UNRELEASED, format!("`{UNRELEASED}` or `{}`", of_release("YYYY-MM-DD")))
        }
    };
    (!is_right).then(|| format!("CHANGELOG.md begins with `{found}`; expected {expected}"))
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize| (part.len() == digits).then(|| part.parse::<u16>().ok()).flatten();
    match parts[..] {
        [year, month, day] => {
            number(year, 4).is_some()
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}

/// A release is a clean checkout of the version's tag.
fn checkout_problems(version: &str) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let changed = output("git", &["status", "--porcelain"])?;
    if !changed.is_empty() {
        problems.push(format!("the work tree has changes; expected none:\n{changed}"));
    }
    let (tag, tags) = (format!("v{version}"), output("git", &["tag", "--points-at", "HEAD"])?);
    if !tags.lines().any(|found| found == tag) {
        let found = if tags.is_empty() { "no tag".to_owned() } else { tags.replace('\n', ", ") };
        problems.push(format!("the current commit has {found}; expected the tag `{tag}`"));
    }
    Ok(problems)
}

/// All at once: a package finds those that it needs among the others, although no registry has them yet.
fn pack(packages: &[Package], allow_dirty: bool) -> Result<()> {
    let mut cargo = Command::new("cargo");
    // Without a build: `.ci/packages` builds a program from the files, and `cargo publish` builds each of them.
    cargo.args(["package", "--quiet", "--no-verify"]);
    if allow_dirty {
        cargo.arg("--allow-dirty");
    }
    run(cargo.args(packages.iter().flat_map(|package| ["--package", &package.name])))
}

/// Builds each package's documentation by nightly with its section `package.metadata.docs.rs`; a warning is an error.
fn docs(workspace: &Workspace) -> Result<()> {
    for package in &workspace.packages {
        let settings = &package.metadata["metadata"]["docs"]["rs"];
        let joined = |setting: &str, separator: &str| {
            list(&settings[setting]).iter().map(text).collect::<Vec<_>>().join(separator)
        };
        println!("{}: features [{}]", package.name, joined("features", ", "));
        let mut cargo = Command::new("cargo");
        cargo.args([
            "+nightly",
            "doc",
            "--quiet",
            "--no-deps",
            "--package",
            &package.name,
            "--features",
            &joined("features", ","),
        ]);
        cargo.env("RUSTDOCFLAGS", format!("{} -D warnings", joined("rustdoc-args", " ")));
        run(cargo.env("CARGO_TARGET_DIR", workspace.target.join("docs.rs")))?;
    }
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let command = format!("`{program} {}`", arguments.join(" "));
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{command}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[(&str, &str)]) -> Package {
        let needs = needs.iter().map(|(name, version)| (name.to_string(), version.to_string())).collect();
        Package { name: name.to_owned(), version: "0.1.0".to_owned(), needs, metadata: Value::Null }
    }

    #[test]
    fn commands_have_names_of_their_own_and_programs_that_exist() {
        let mut names: Vec<&str> =
            SHORTCUTS.iter().map(|known| known.name).chain(RELEASING.map(|(name, _)| name)).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        for known in &SHORTCUTS {
            assert!(root.join(known.folder).is_dir(), "{}", known.folder);
            let program = known.line[0];
            assert!(!program.starts_with('.') || root.join(program).is_file(), "{program}");
            assert!(usage().contains(known.purpose));
        }
    }

    /// The committed counts as the benches print them, where the first table's last row is so many times as large.
    fn printed_counts(times: f64) -> (String, String) {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let committed = fs::read_to_string(root.join(".ci/instructions.txt")).unwrap();
        let rows = committed.lines().skip(1).map(|line| line.split_once(' ').unwrap());
        let rows: Vec<(f64, &str)> = rows.map(|(count, name)| (count.parse().unwrap(), name)).collect();
        let (_, changed) = rows.iter().rfind(|(count, _)| *count > 100.0).unwrap();
        let row = |(count, name): &(f64, &str)| {
            let (title, what) = name.rsplit_once(": ").unwrap();
            let count = if name == changed { count * times } else { *count };
            format!("## {title}\n\n| what | instructions |\n|---|---|\n| {what} | {count:.1} |\n\n")
        };
        (rows.iter().map(row).collect(), (*changed).to_owned())
    }

    #[test]
    fn a_rise_of_instruction_counts_fails_with_the_name_of_the_row() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = env::temp_dir().join(format!("tracecast-counts-{}", std::process::id()));
        let compared = |times| {
            let (text, changed) = printed_counts(times);
            fs::write(&file, text).unwrap();
            let output = Command::new(root.join(".ci/instructions")).arg(&file).output().unwrap();
            (output.status.success(), String::from_utf8(output.stdout).unwrap(), changed)
        };
        for (times, succeeds, word) in
            [(1.0, true, None), (1.01, true, None), (0.9, true, Some("fell")), (1.03, false, Some("rose"))]
        {
            let (succeeded, said, changed) = compared(times);
            assert_eq!(succeeded, succeeds, "{times}: {said}");
            assert_eq!(said.contains(&changed), word.is_some(), "{times}: {said}");
            assert!(word.is_none_or(|word| said.contains(&format!("{word}: {changed}"))), "{times}: {said}");
        }
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn dependencies_are_published_first() {
        let order = |packages| {
            in_publishing_order(packages)
                .map(|packages| packages.into_iter().map(|package| package.name).collect::<Vec<_>>())
        };
        let packages = vec![package("a", &[("c", "^0.1.0")]), package("c", &[("b", "=0.1.0")]), package("b", &[])];
        assert_eq!(order(packages).unwrap(), ["b", "c", "a"]);
        let error = order(vec![package("a", &[("b", "^0.1.0")]), package("b", &[("a", "^0.1.0")])]).unwrap_err();
        assert!(error.contains("a, b depend on each other"), "{error}");
    }

    #[test]
    fn only_the_macros_are_pinned() {
        let versions = |package: Package| {
            problems_of(&package, "0.1.0")
                .into_iter()
                .filter(|problem| problem.contains("depends on"))
                .collect::<Vec<_>>()
        };
        assert!(versions(package("tracecast", &[("tracecast-macros", "=0.1.0")])).is_empty());
        assert_eq!(
            versions(package("tracecast", &[("tracecast-macros", "^0.1.0")])),
            ["tracecast depends on tracecast-macros `^0.1.0`; expected `=0.1.0`"]
        );
        assert_eq!(
            versions(package("tracecast-tower", &[("tracecast", "=0.1.0")])),
            ["tracecast-tower depends on tracecast `=0.1.0`; expected `^0.1.0`"]
        );
    }

    #[test]
    fn the_newest_section_is_that_of_the_version() {
        let check = |heading: &str, date| {
            changelog_problem(&format!("# Changelog\n\n{heading}\n\n## [0.0.9] - 2025-01-01\n"), "0.1.0", date)
        };
        assert_eq!(check("## [Unreleased]", None), None);
        assert_eq!(check("## [0.1.0] - 2026-02-03", None), None);
        assert_eq!(check("## [0.1.0] - 2026-02-03", Some("2026-02-03")), None);
        for wrong in
            ["## Unreleased", "## [0.2.0] - 2026-02-03", "## [0.1.0]", "## [0.1.0] - 2026-13-03", "## [0.1.0] - soon"]
        {
            assert!(check(wrong, None).is_some_and(|problem| problem.contains(wrong)), "{wrong}");
        }
        for wrong in ["## [Unreleased]", "## [0.1.0] - 2026-02-04"] {
            let problem = check(wrong, Some("2026-02-03")).unwrap();
            assert!(problem.contains(wrong) && problem.contains("`## [0.1.0] - 2026-02-03`"), "{problem}");
        }
    }
}
