//! B3, the format of Zipkin: one header or several. Both are read, whichever is written.

use opentelemetry::propagation::text_map_propagator::FieldIter;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceState};
use opentelemetry::{Context as Theirs, SpanId, TraceId};

use super::convert;

const SINGLE: &str = "b3";
const TRACE_ID: &str = "x-b3-traceid";
const SPAN_ID: &str = "x-b3-spanid";
const SAMPLED: &str = "x-b3-sampled";
const FLAGS: &str = "x-b3-flags";

#[derive(Debug)]
pub(super) struct B3 {
    fields: Vec<String>,
}

impl B3 {
    /// Writes one header.
    pub(super) fn single() -> Self {
        B3 { fields: vec![SINGLE.to_owned()] }
    }

    /// Writes several.
    pub(super) fn multiple() -> Self {
        B3 { fields: [TRACE_ID, SPAN_ID, SAMPLED, FLAGS].map(str::to_owned).to_vec() }
    }
}

impl TextMapPropagator for B3 {
    fn inject_context(&self, context: &Theirs, injector: &mut dyn Injector) {
        let span = context.span();
        let span = span.span_context();
        if !span.is_valid() {
            return;
        }
        let sampled = if span.is_sampled() { "1" } else { "0" };
        if self.fields.len() == 1 {
            return injector.set(SINGLE, format!("{}-{}-{sampled}", span.trace_id(), span.span_id()));
        }
        injector.set(TRACE_ID, span.trace_id().to_string());
        injector.set(SPAN_ID, span.span_id().to_string());
        injector.set(SAMPLED, sampled.to_owned());
    }

    fn extract_with_context(&self, context: &Theirs, extractor: &dyn Extractor) -> Theirs {
        match single(extractor).or_else(|| multiple(extractor)) {
            Some(span) => context.with_remote_span_context(span),
            None => context.clone(),
        }
    }

    fn fields(&self) -> FieldIter<'_> {
        FieldIter::new(&self.fields)
    }
}

/// `{trace id}-{span id}[-{sampled}[-{parent}]]`; a decision alone names no parent.
fn single(extractor: &dyn Extractor) -> Option<SpanContext> {
    let mut parts = extractor.get(SINGLE)?.split('-');
    let (trace_id, span_id) = (parts.next()?, parts.next()?);
    parsed(trace_id, span_id, matches!(parts.next(), Some("1" | "d")))
}

fn multiple(extractor: &dyn Extractor) -> Option<SpanContext> {
    let sampled = matches!(extractor.get(SAMPLED), Some("1" | "true" | "True")) || extractor.get(FLAGS) == Some("1");
    parsed(extractor.get(TRACE_ID)?, extractor.get(SPAN_ID)?, sampled)
}

/// A trace id may have half the width.
fn parsed(trace_id: &str, span_id: &str, sampled: bool) -> Option<SpanContext> {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !matches!(trace_id.len(), 16 | 32) || span_id.len() != 16 || !is_hex(trace_id) || !is_hex(span_id) {
        return None;
    }
    let (trace_id, span_id) = (TraceId::from_hex(trace_id).ok()?, SpanId::from_hex(span_id).ok()?);
    let context = SpanContext::new(trace_id, span_id, convert::flags(sampled), true, TraceState::NONE);
    Some(context).filter(SpanContext::is_valid)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const IDS: (&str, &str) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");

    fn read(headers: &[(&str, &str)]) -> Option<(String, String, bool)> {
        let headers: HashMap<String, String> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let context = B3::single().extract_with_context(&Theirs::new(), &headers);
        let span = context.span().span_context().clone();
        let read = || (span.trace_id().to_string(), span.span_id().to_string(), span.is_sampled());
        (span.is_valid() && span.is_remote()).then(read)
    }

    #[test]
    fn both_forms_are_read() {
        let (trace, span) = IDS;
        let expected = |sampled| Some((trace.to_owned(), span.to_owned(), sampled));
        let single = |rest: &str| format!("{trace}-{span}{rest}");
        assert_eq!(read(&[("b3", &single("-1"))]), expected(true));
        assert_eq!(read(&[("b3", &single("-d-05e3ac9a4f6e3b90"))]), expected(true));
        assert_eq!(read(&[("b3", &single("-0"))]), expected(false));
        assert_eq!(read(&[("b3", &single(""))]), expected(false));
        assert_eq!(read(&[(TRACE_ID, trace), (SPAN_ID, span), (SAMPLED, "1")]), expected(true));
        assert_eq!(read(&[(TRACE_ID, trace), (SPAN_ID, span), (FLAGS, "1")]), expected(true));
        assert_eq!(read(&[(TRACE_ID, trace), (SPAN_ID, span)]), expected(false));
        assert_eq!(read(&[(TRACE_ID, "8448eb211c80319c"), (SPAN_ID, span)]).map(|(trace, ..)| trace.len()), Some(32));
    }

    #[test]
    fn wrong_input_is_no_parent() {
        let (trace, span) = IDS;
        let wrong =
            ["", "0", "-", "1-2-3", &format!("{trace}-{}", "0".repeat(16)), &format!("+{}-{span}", &trace[1..])];
        wrong.iter().for_each(|text| assert_eq!(read(&[("b3", text)]), None, "{text}"));
        assert_eq!(read(&[(TRACE_ID, trace)]), None);
        assert_eq!(read(&[(SPAN_ID, span), (TRACE_ID, "zz")]), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (trace, span) = (TraceId::from_hex(IDS.0).unwrap(), SpanId::from_hex(IDS.1).unwrap());
        for (b3, sampled) in
            [(B3::single(), true), (B3::single(), false), (B3::multiple(), true), (B3::multiple(), false)]
        {
            let sent = SpanContext::new(trace, span, convert::flags(sampled), true, TraceState::NONE);
            let mut headers = HashMap::new();
            b3.inject_context(&Theirs::new().with_remote_span_context(sent.clone()), &mut headers);
            let read = b3.extract_with_context(&Theirs::new(), &headers);
            assert_eq!(read.span().span_context(), &sent);
        }
    }
}
