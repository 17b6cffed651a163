//! The parent, link and sampler with which a span starts.

use tracecast::__layers::SpanName;
use tracecast::{Context, Sampler, Span, SpanBuilder};

#[derive(Debug, Default)]
pub(crate) struct Origin<'a> {
    /// The parent; `None` for the current context.
    pub(crate) parent: Option<&'a Context>,
    pub(crate) link: Option<&'a Context>,
    /// The sampler for a root.
    pub(crate) sampler: Option<&'a Sampler>,
}

impl Origin<'_> {
    pub(crate) fn start(self, name: SpanName) -> Span {
        match self {
            Origin { parent, link: None, sampler: None } => name.start(parent),
            origin => origin.describe(name).start(),
        }
    }

    fn describe(self, name: SpanName) -> SpanBuilder {
        let mut builder = name.builder();
        if let Some(parent) = self.parent {
            builder = builder.with_parent(parent);
        }
        if let Some(link) = self.link {
            builder = builder.with_links(link);
        }
        if let Some(sampler) = self.sampler {
            builder = builder.with_sampler(sampler.clone());
        }
        builder
    }
}
