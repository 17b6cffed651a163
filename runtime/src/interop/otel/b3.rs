//! A propagator of B3 headers for the OpenTelemetry API. It reads both forms and writes either one header or several.

use opentelemetry::propagation::text_map_propagator::FieldIter;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceState};
use opentelemetry::{Context as Theirs, SpanId, TraceId};

use super::convert;
use crate::formats::{self, Decision};

#[derive(Debug)]
pub(super) struct B3 {
    fields: Vec<String>,
}

impl B3 {
    /// Creates a propagator that writes one header.
    pub(super) fn single() -> Self {
        B3 { fields: vec![formats::B3::SINGLE.to_owned()] }
    }

    /// Creates a propagator that writes several headers.
    pub(super) fn multiple() -> Self {
        B3 { fields: formats::B3::SEVERAL.map(str::to_owned).to_vec() }
    }
}

impl TextMapPropagator for B3 {
    fn inject_context(&self, context: &Theirs, injector: &mut dyn Injector) {
        let span = context.span();
        let span = span.span_context();
        if !span.is_valid() {
            return;
        }
        let (trace_id, span_id) = (convert::trace_number(span.trace_id()), convert::span_number(span.span_id()));
        let decision = if span.is_sampled() { Decision::Accept } else { Decision::Deny };
        let said = formats::B3 { ids: Some((trace_id, span_id)), decision };
        let mut set = |name, value: &[u8]| injector.set(name, String::from_utf8_lossy(value).into_owned());
        if self.fields.len() == 1 {
            set(formats::B3::SINGLE, said.write(&mut [0; formats::B3::LENGTH]));
        } else {
            said.write_several(&mut set);
            // Clears the headers that are not written, because their old values would take precedence. An injector
            // cannot remove headers.
            [formats::B3::SINGLE].iter().chain(&formats::B3::SEVERAL[3..]).for_each(|name| set(name, b""));
        }
    }

    fn extract_with_context(&self, context: &Theirs, extractor: &dyn Extractor) -> Theirs {
        let said = formats::B3::read(|name| extractor.get(name).map(str::as_bytes));
        // Ignores a sampling decision without ids, which cannot be a parent.
        match said.and_then(|said| said.ids.zip(Some(said.decision))) {
            Some(((trace_id, span_id), decision)) => {
                let (trace_id, span_id) = (TraceId::from(trace_id), SpanId::from(span_id));
                let flags = convert::flags(decision.sampled());
                context.with_remote_span_context(SpanContext::new(trace_id, span_id, flags, true, TraceState::NONE))
            }
            None => context.clone(),
        }
    }

    fn fields(&self) -> FieldIter<'_> {
        FieldIter::new(&self.fields)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const TRACE_ID: &str = formats::B3::SEVERAL[0];
    const SPAN_ID: &str = formats::B3::SEVERAL[1];
    const SAMPLED: &str = formats::B3::SEVERAL[2];
    const FLAGS: &str = formats::B3::SEVERAL[3];

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
    fn headers_of_an_earlier_caller_are_replaced() {
        let (trace, span) = (TraceId::from_hex(IDS.0).unwrap(), SpanId::from_hex(IDS.1).unwrap());
        let sent = SpanContext::new(trace, span, convert::flags(false), true, TraceState::NONE);
        for b3 in [B3::single(), B3::multiple()] {
            let mut headers: HashMap<String, String> =
                ["b3", TRACE_ID, SPAN_ID, SAMPLED, FLAGS].map(|name| (name.to_owned(), "1".to_owned())).into();
            b3.inject_context(&Theirs::new().with_remote_span_context(sent.clone()), &mut headers);
            let read = b3.extract_with_context(&Theirs::new(), &headers);
            assert_eq!(read.span().span_context(), &sent);
        }
    }

    #[test]
    fn written_headers_are_read_back() {
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
