//! The tables of metrics, log lines and accounts.

use std::fmt::{self, Write};

use super::escape::Escaped;
use crate::demo::account::Account;
use crate::demo::fleet::Outcome;
use crate::demo::received::Received;
use crate::demo::series::{FAMILIES, Series, amount, family};
use crate::demo::trace::Trace;
use crate::demo::wire::Attributes;

/// Writes the metric families, and all series in a collapsed table.
pub(super) fn metrics(page: &mut String, received: &Received) -> fmt::Result {
    page.push_str("<section aria-labelledby=\"metrics\">\n<h2 id=\"metrics\">Metrics</h2>\n");
    for (name, starts) in FAMILIES {
        series(page, name, &family(&received.series, starts))?;
    }
    let all = family(&received.series, &[""]);
    writeln!(page, "<details><summary>All {} series</summary>", all.len())?;
    series(page, "all series", &all)?;
    page.push_str("</details>\n</section>\n");
    Ok(())
}

fn series(page: &mut String, caption: &str, all: &[&Series]) -> fmt::Result {
    head(page, caption, &["Metric", "Process", "Labels", "Value"])?;
    for series in all {
        writeln!(
            page,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td class=\"number\">{}</td></tr>",
            Escaped(&series.name),
            Escaped(&series.process),
            Escaped(&pairs(&series.labels)),
            Escaped(&series.shown())
        )?;
    }
    page.push_str("</tbody></table></div>\n");
    Ok(())
}

/// Writes the log lines of a trace, with links to their spans.
pub(super) fn lines(page: &mut String, trace: &Trace<'_>, received: &Received) -> fmt::Result {
    page.push_str("<section aria-labelledby=\"logs\">\n<h2 id=\"logs\">Log lines of this request</h2>\n");
    head(page, "log lines", &["After", "Level", "Process", "Message", "Fields", "Span"])?;
    for line in trace.lines(received) {
        writeln!(
            page,
            "<tr><td class=\"number\">{}</td><td>{}</td><td>{}</td><th scope=\"row\">{}</th><td>{}</td>\
             <td><a href=\"#span-{id}\"><code>{id}</code></a></td></tr>",
            amount(line.time.saturating_sub(trace.start) as f64 / 1e9, "s"),
            Escaped(&line.severity),
            Escaped(&line.process),
            Escaped(&line.text),
            Escaped(&pairs(&line.attributes)),
            id = line.span_id
        )?;
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

/// Writes the span account of each process.
pub(super) fn account(page: &mut String, outcome: &Outcome) -> fmt::Result {
    page.push_str("<section aria-labelledby=\"account\">\n<h2 id=\"account\">Span account</h2>\n");
    head(page, "account", &["Process", "Ended", "Exported", "Dropped", "Unconfirmed", "Pending", "Spooled"])?;
    let counted = outcome.accounts().map(|(name, account)| (name, account.unwrap_or_default()));
    for (name, account) in counted.chain([("all", outcome.total())]) {
        write!(page, "<tr><th scope=\"row\">{}</th>", Escaped(name))?;
        let Account { ended, exported, dropped, unconfirmed, pending, spooled } = account;
        for count in [ended, exported, dropped, unconfirmed, pending, spooled] {
            write!(page, "<td class=\"number\">{count}</td>")?;
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

fn head(page: &mut String, caption: &str, columns: &[&str]) -> fmt::Result {
    write!(
        page,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>"
    )?;
    page.push_str("<thead><tr>");
    for column in columns {
        write!(page, "<th scope=\"col\">{column}</th>")?;
    }
    page.push_str("</tr></thead><tbody>\n");
    Ok(())
}

fn pairs(attributes: &Attributes) -> String {
    attributes.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}
