//! The summary for the browser: one self-contained page.

mod escape;
mod tables;
mod waterfall;

use std::fmt::{self, Write};

use self::escape::Escaped;
use super::fleet::Outcome;
use super::received::Received;
use super::trace::Trace;

/// Lets the browser load only the page itself, and send nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Returns the whole page.
pub(crate) fn page(traces: &[Trace<'_>], received: &Received, outcome: &Outcome) -> String {
    let mut page = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(&mut page, traces, received, outcome);
    page
}

fn write(page: &mut String, traces: &[Trace<'_>], received: &Received, outcome: &Outcome) -> fmt::Result {
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>Tracecast demo</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        include_str!("page.css")
    )?;
    let (shown, others): (Vec<_>, Vec<_>) = traces.iter().partition(|trace| trace.loads(super::SHOWN));
    summary(page, traces, received, outcome)?;
    page.push_str("<main>\n");
    for trace in shown {
        page.push_str(
            "<section aria-labelledby=\"request\">\n<h2 id=\"request\">One request across all processes</h2>\n",
        );
        waterfall::write(page, trace)?;
        page.push_str("</section>\n");
        tables::lines(page, trace, received)?;
    }
    tables::metrics(page, received)?;
    page.push_str("<section aria-labelledby=\"others\">\n<h2 id=\"others\">The other traces</h2>\n");
    for trace in others {
        page.push_str("<details class=\"trace\"><summary>");
        waterfall::title(page, trace)?;
        page.push_str("</summary>\n");
        waterfall::write(page, trace)?;
        page.push_str("</details>\n");
    }
    page.push_str("</section>\n");
    tables::account(page, outcome)?;
    write!(page, "</main>\n<script>\n{}</script>\n</body>\n</html>\n", include_str!("page.js"))
}

fn summary(page: &mut String, traces: &[Trace<'_>], received: &Received, outcome: &Outcome) -> fmt::Result {
    let (spans, series, lines) = (received.spans.len(), received.series.len(), received.lines.len());
    let names: Vec<_> = outcome.ended.iter().map(|ended| ended.name).collect();
    write!(
        page,
        "<header>\n<h1>Tracecast demo</h1>\n<p>A small tensor store of {} processes ({}) exported {spans} spans in {} traces, \
         {series} series and {lines} log lines. {}.</p>\n</header>\n",
        names.len(),
        Escaped(&names.join(", ")),
        traces.len(),
        Escaped(&outcome.total().to_string())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::received::{Line, Span};

    const HOSTILE: &str = "</script><script>alert(1)</script>\" onload=\"alert(2)";

    #[test]
    fn nothing_that_a_process_names_becomes_a_part_of_the_page() {
        let hostile = || HOSTILE.to_owned();
        let attributes = vec![("tc.artifact.id".to_owned(), crate::demo::SHOWN.to_owned()), (hostile(), hostile())];
        let of_trace = Span { trace_id: "a1".to_owned(), process: hostile(), ..Span::default() };
        let root = Span {
            name: "Client/LoadModel".to_owned(),
            span_id: "b1".to_owned(),
            attributes: attributes.clone(),
            events: vec![hostile()],
            ..of_trace.clone()
        };
        let (parent_id, span_id) = ("b1".to_owned(), "b2".to_owned());
        let below = Span { name: hostile(), span_id, links: vec![parent_id.clone()], parent_id, ..of_trace };
        let line =
            Line { process: hostile(), text: hostile(), trace_id: "a1".to_owned(), attributes, ..Line::default() };
        let received = Received { spans: vec![root, below], series: Vec::new(), lines: vec![line] };
        let page = page(&Trace::all(&received), &received, &Outcome { ended: Vec::new(), story: Vec::new() });
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(!page.contains("\" onload"), "{page}");
        assert!(page.matches("&lt;script&gt;alert(1)").count() >= 8, "{page}");
    }
}
