//! Every kind and type of key, with attributes, visibilities and a name that an argument may have too.

#![deny(missing_docs, non_camel_case_types, dead_code)]

use tracecast::tc_span;

/// Keys of the store.
pub mod keys {
    use tracecast::keys::tensor::SourceType;

    tracecast::tc_keys! {
        /// Where the bytes come from.
        pub label source: SourceType = "tc.source.type";
        /// Whether they were there.
        pub label hit: Option<bool> = "tc.cache.hit";
        /// The GPU.
        pub label device: Index<{ 8 * 2 }> = "tc.device.id";
        /// Who asks.
        pub label tenant: Interned<32> = "tc.tenant.class";
        /// The session.
        pub id session: str = "tc.session.id" { baggage };
        /// How many.
        pub measure count: i64 = "tc.count";
        /// How full.
        #[deprecated]
        pub measure ratio: f64 = "tc.ratio";
        /// Only where there is a feature for it.
        #[cfg(any())]
        pub label never: NoSuchType = "tc.never";
    }
}

#[tc_span("StoreDaemon/Load", attrs(keys::hit = Some(true), keys::device = 3_u32, keys::tenant = tenant, keys::count = -1))]
fn load(tenant: &str) -> usize {
    tenant.len()
}

pub(crate) fn main() {
    load("gold");
}
