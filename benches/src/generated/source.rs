//! The source of generated crates: the same functions, plain, annotated, or with the annotation's work written by hand.

use std::fmt::Write as _;

/// Plain functions.
pub const PLAIN: &str = "plain";
pub const OURS: &str = "tracecast";
pub const FASTRACE: &str = "fastrace";
pub const TRACING: &str = "tracing";
/// Without a macro, with the smallest possible library: the minimum of any annotation.
pub const BY_HAND: &str = "by hand";

/// The kind of functions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Sync,
    Small,
    Results,
    Async,
    Attributes,
}

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Shape::Sync => "fn",
            Shape::Small => "very small fn: unit, value, Result, generic, method",
            Shape::Results => "small fn -> Result",
            Shape::Async => "async fn",
            Shape::Attributes => "async fn, 2 attributes",
        }
    }

    fn is_async(self) -> bool {
        matches!(self, Shape::Async | Shape::Attributes)
    }
}

/// Returns the source of so many functions.
pub fn functions(library: &str, shape: Shape, functions: usize) -> String {
    let mut source = preamble(library);
    if shape == Shape::Small {
        source += "pub struct S(pub u64);\n";
    }
    for n in 0..functions {
        source += &function(library, shape, n);
    }
    source
}

fn preamble(library: &str) -> String {
    match library {
        // The same dependencies as ours.
        PLAIN => "use tracecast as _;\n".to_owned(),
        BY_HAND => format!("use tracecast as _;\nmod by_hand {{\n{}}}\n", include_str!("stub.rs")),
        _ => String::new(),
    }
}

fn function(library: &str, shape: Shape, n: usize) -> String {
    let attribute = attribute(library, shape, n);
    let text = "Result<String, std::num::ParseIntError>";
    let steps = |step| {
        format!(
            "    let parsed: usize = input.trim().parse()?;\n    let mut out = String::new();\n    \
             for step in 0..count.min(parsed) {{\n        {step};\n        out.push_str(input);\n    }}\n    Ok(out)\n"
        )
    };
    let (head, returned, body) = match (shape, n % 5) {
        (Shape::Results, _) | (Shape::Small, 0) => (
            format!("pub fn f{n}(x: u64)"),
            "Result<u64, std::fmt::Error>",
            format!("    if x > {n} {{ return Err(std::fmt::Error); }}\n    Ok(x)\n"),
        ),
        (Shape::Small, 1) => (format!("pub fn f{n}()"), "()", format!("    std::hint::black_box({n});\n")),
        (Shape::Small, 2) => (format!("pub fn f{n}(x: u64)"), "u64", format!("    x + {n}\n")),
        (Shape::Small, 3) => {
            (format!("pub fn f{n}<T: Clone>(x: &T)"), "(T, T)", "    (x.clone(), x.clone())\n".to_owned())
        }
        (Shape::Small, _) => (format!("pub fn f{n}(&self, x: u64)"), "u64", "    self.0 + x\n".to_owned()),
        (Shape::Sync, _) => {
            (format!("pub fn f{n}(input: &str, count: usize)"), text, steps("std::hint::black_box(step)"))
        }
        (Shape::Async | Shape::Attributes, _) => {
            let keyword = if library == BY_HAND { "" } else { "async " };
            let head = format!("pub {keyword}fn f{n}(input: &str, count: usize)");
            (head, text, steps("std::future::ready(step).await"))
        }
    };
    let function = match library {
        BY_HAND => by_hand(shape, &head, returned, &body, n),
        _ if returned == "()" => format!("{attribute}{head} {{\n{body}}}\n"),
        _ => format!("{attribute}{head} -> {returned} {{\n{body}}}\n"),
    };
    if head.contains("&self") { format!("impl S {{\n{function}}}\n") } else { function }
}

/// The hand-written expansion of an annotation.
fn by_hand(shape: Shape, head: &str, returned: &str, body: &str, n: usize) -> String {
    let run = if returned.starts_with("Result") { "run_result" } else { "run" };
    let (returns, call) = match shape {
        Shape::Async => (
            format!("impl Future<Output = {returned}>"),
            format!("by_hand::wrap(&CALLSITE, |_| (), async move {{\n{body}}})"),
        ),
        Shape::Attributes => (
            format!("impl Future<Output = {returned}>"),
            format!(
                "by_hand::wrap(&CALLSITE, |span| {{ span.text(1, input); span.number(2, count as u64); }}, async move {{\n{body}}})"
            ),
        ),
        _ => (returned.to_owned(), format!("by_hand::{run}(&CALLSITE, move || -> {returned} {{\n{body}}})")),
    };
    format!(
        "{head} -> {returns} {{\n#[used]\n#[unsafe(link_section = \"by_hand\")]\n\
         static CALLSITE: by_hand::Callsite = by_hand::callsite(\"Bench/F{n}\");\n{call}\n}}\n"
    )
}

fn attribute(library: &str, shape: Shape, n: usize) -> String {
    let with = shape == Shape::Attributes;
    match library {
        OURS if with => format!(
            "#[tracecast::tc_span(\"Bench/F{n}\", attrs(tracecast::keys::tensor::artifact = input, tracecast::keys::size_bytes = count))]\n"
        ),
        OURS => format!("#[tracecast::tc_span(\"Bench/F{n}\")]\n"),
        FASTRACE if with => format!(
            "#[fastrace::trace(name = \"Bench/F{n}\", properties = {{ \"artifact\": \"{{input}}\", \"bytes\": \"{{count}}\" }})]\n"
        ),
        FASTRACE => format!("#[fastrace::trace(name = \"Bench/F{n}\")]\n"),
        TRACING if with => {
            format!(
                "#[tracing::instrument(name = \"Bench/F{n}\", skip_all, err, fields(artifact = input, bytes = count))]\n"
            )
        }
        // Records the error, as ours does.
        TRACING => format!("#[tracing::instrument(name = \"Bench/F{n}\", skip_all, err)]\n"),
        _ => String::new(),
    }
}

/// Returns a `main` that calls all functions in a way that the compiler cannot see through.
pub fn entry(shape: Shape, functions: usize) -> String {
    let call = |n| match shape.is_async() {
        false => {
            format!("    sum += std::hint::black_box(f{n}(std::hint::black_box(\"1\"), 1)).map_or(0, |s| s.len());\n")
        }
        true => format!(
            "    let mut task = std::task::Context::from_waker(std::task::Waker::noop());\n    \
             sum += usize::from(std::future::Future::poll(std::pin::pin!(f{n}(std::hint::black_box(\"1\"), 1)).as_mut(), &mut task).is_ready());\n"
        ),
    };
    // A single function with all calls would take longer to compile than the functions.
    let (mut parts, mut calls) = (String::new(), String::new());
    for (part, from) in (0..functions).step_by(20).enumerate() {
        let body: String = (from..functions.min(from + 20)).map(call).collect();
        let _ = writeln!(parts, "fn part{part}() -> usize {{\n    let mut sum = 0_usize;\n{body}    sum\n}}");
        let _ = writeln!(calls, "    std::hint::black_box(part{part}());");
    }
    format!("{parts}fn main() {{\n{calls}}}\n")
}

/// Returns the source of chains of async functions, each spawned.
pub fn chains(library: &str, depth: usize, chains: usize) -> String {
    let mut source = String::from("fn spawn<F: std::future::Future + Send + 'static>(_: F) {}\n") + &preamble(library);
    for chain in 0..chains {
        let _ = writeln!(source, "mod chain{chain} {{");
        for n in 0..depth {
            let attribute = attribute(library, Shape::Async, n);
            let body = if n == 0 { "x".to_owned() } else { format!("f{}(x).await + 1", n - 1) };
            let _ = writeln!(source, "{attribute}pub async fn f{n}(x: u64) -> u64 {{ {body} }}");
        }
        source += "}\n";
    }
    let calls: String = (0..chains).map(|chain| format!("spawn(chain{chain}::f{}(1)); ", depth - 1)).collect();
    source + &format!("fn main() {{ {calls}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_is_there_in_each_form() {
        for shape in [Shape::Sync, Shape::Small, Shape::Results, Shape::Async, Shape::Attributes] {
            for (library, mark) in [
                (PLAIN, None),
                (OURS, Some("#[tracecast::tc_span(")),
                (FASTRACE, Some("#[fastrace::trace(")),
                (TRACING, Some("#[tracing::instrument(")),
                (BY_HAND, Some("static CALLSITE")),
            ] {
                let source = functions(library, shape, 10);
                assert!((0..10).all(|n| source.contains(&format!("fn f{n}"))), "{source}");
                assert_eq!(mark.map_or(10, |mark| source.matches(mark).count()), 10, "{source}");
            }
        }
    }

    #[test]
    fn a_program_calls_all_of_them() {
        let main = entry(Shape::Async, 45);
        assert!((0..45).all(|n| main.contains(&format!("f{n}("))), "{main}");
        assert!(main.contains("part2()") && !main.contains("part3()"), "{main}");
    }
}
