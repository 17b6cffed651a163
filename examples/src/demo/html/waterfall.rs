//! A trace as a tree of rows, each with a bar on the timeline.

use std::fmt::{self, Write};

use super::escape::Escaped;
use crate::demo::received::Span;
use crate::demo::series::amount;
use crate::demo::trace::{Row, Trace};

/// Writes the line above a collapsed trace.
pub(super) fn title(page: &mut String, trace: &Trace<'_>) -> fmt::Result {
    let Some(root) = trace.root() else { return Ok(()) };
    let artifact = root.attribute("tc.artifact.id").unwrap_or_default();
    write!(page, "{} <b>{}</b> {}", Escaped(&root.name), Escaped(artifact), duration(trace.end - trace.start))?;
    mark(page, root)
}

/// Writes the table of a trace.
pub(super) fn write(page: &mut String, trace: &Trace<'_>) -> fmt::Result {
    let Some(root) = trace.root() else { return Ok(()) };
    let processes = trace.processes();
    write!(page, "<p>Trace <code>{}</code>, {}, in", root.trace_id, duration(trace.end - trace.start))?;
    for (number, process) in processes.iter().enumerate() {
        write!(page, " <span class=\"process p{}\">{}</span>", number % 6, Escaped(process))?;
    }
    write!(
        page,
        ". Use the arrow keys to move between spans and to expand or collapse them; Enter shows attributes and links.</p>\n<table role=\"treegrid\" aria-label=\"Spans of {}\">\n<thead><tr role=\"row\">\
         <th role=\"columnheader\" scope=\"col\">Span</th><th role=\"columnheader\" scope=\"col\">Process</th>\
         <th role=\"columnheader\" scope=\"col\">Duration</th><th role=\"columnheader\" scope=\"col\">Timeline</th>\
         </tr></thead>\n<tbody>\n",
        Escaped(&root.name)
    )?;
    for (number, row) in trace.rows.iter().enumerate() {
        let process = processes.iter().position(|name| *name == row.span.process).unwrap_or_default();
        self::row(page, trace, row, number == 0, process % 6)?;
    }
    page.push_str("</tbody>\n</table>\n");
    Ok(())
}

fn row(page: &mut String, trace: &Trace<'_>, row: &Row<'_>, first: bool, colour: usize) -> fmt::Result {
    let Row { span, depth, children, place } = row;
    let expanded = if *children > 0 { " aria-expanded=\"true\"" } else { "" };
    let class = if span.failed { " class=\"failed\"" } else { "" };
    write!(
        page,
        "<tr role=\"row\" id=\"span-{}\" aria-level=\"{}\" aria-posinset=\"{}\" aria-setsize=\"{}\"{expanded}{class} tabindex=\"{}\">",
        span.span_id,
        depth + 1,
        place.0,
        place.1,
        if first { 0 } else { -1 }
    )?;
    write!(page, "<td role=\"gridcell\" style=\"padding-left:{}rem\">", 1.6 + 1.1 * *depth as f64)?;
    let fold = if *children > 0 { "<span class=\"fold\" aria-hidden=\"true\"></span>" } else { "" };
    write!(page, "{fold}<details><summary>{}", Escaped(&span.name))?;
    // Client and server spans of a call have the same name.
    if let Some(kind) = span.kind {
        write!(page, " <span class=\"kind\">{kind}</span>")?;
    }
    if let Some(before) = span.links.first().and_then(|id| trace.span(id)) {
        write!(page, " <small>linked to {}</small>", Escaped(&before.name))?;
    }
    mark(page, span)?;
    page.push_str("</summary>");
    details(page, trace, span)?;
    page.push_str("</details></td>");
    let (begin, took) = (span.start - trace.start, span.end.saturating_sub(span.start));
    let whole = (trace.end - trace.start).max(1) as f64;
    let share = |nanos: u64| 100.0 * nanos as f64 / whole;
    writeln!(
        page,
        "<td role=\"gridcell\"><span class=\"process p{colour}\">{}</span></td><td role=\"gridcell\" class=\"number\">{}</td>\
         <td role=\"gridcell\" class=\"timeline\"><span class=\"bar p{colour}\" style=\"left:{:.2}%;width:{:.2}%\"></span>\
         <span class=\"unseen\">starts after {}</span></td></tr>",
        Escaped(&span.process),
        duration(took),
        share(begin).min(99.5),
        share(took).max(0.4),
        duration(begin)
    )
}

fn mark(page: &mut String, span: &Span) -> fmt::Result {
    match span {
        _ if span.is_cancelled() => write!(page, " <span class=\"mark\">cancelled</span>"),
        _ if span.failed => {
            write!(
                page,
                " <span class=\"mark\">error {}</span>",
                Escaped(span.attribute("error.type").unwrap_or_default())
            )
        }
        _ => Ok(()),
    }
}

fn details(page: &mut String, trace: &Trace<'_>, span: &Span) -> fmt::Result {
    page.push_str("<dl>");
    for (name, value) in &span.attributes {
        write!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(name), Escaped(value))?;
    }
    for event in &span.events {
        write!(page, "<dt>event</dt><dd>{}</dd>", Escaped(event))?;
    }
    for link in &span.links {
        match trace.span(link) {
            Some(linked) => {
                let name = Escaped(&linked.name);
                write!(page, "<dt>linked to</dt><dd><a href=\"#span-{link}\">{name}</a></dd>")?;
            }
            None => write!(page, "<dt>linked to</dt><dd>a span of another trace, <code>{link}</code></dd>")?,
        }
    }
    write!(page, "<dt>span id</dt><dd><code>{}</code></dd></dl>", span.span_id)
}

fn duration(nanos: u64) -> String {
    amount(nanos as f64 / 1e9, "s")
}
