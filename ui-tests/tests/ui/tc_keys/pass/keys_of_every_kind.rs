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
        /// Where it stops.
        pub id stops: [str] = "tc.stops";
        /// A list of texts, spelled as in Rust.
        pub id names: [&str] = "http.request.header.x-name";
        /// The shape of the tensor.
        pub id shape: [u64] = "tc.shape";
        /// The exit codes.
        pub id codes: [i64] = "tc.codes";
        /// The cache hits.
        pub id hits: [bool] = "tc.hits";
        /// The sizes of the parts.
        pub measure sizes: [u64] = "tc.sizes";
        /// The changes of the sizes.
        pub measure changes: [i64] = "tc.changes";
        /// The fill level of each pool.
        pub measure ratios: [f64] = "tc.ratios";
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

#[tc_span(
    "StoreDaemon/List",
    attrs(
        keys::stops = names,
        keys::names = [names[0].as_str(), "x"],
        keys::shape = &[1_usize, 2],
        keys::codes = vec![-1_i32],
        keys::hits = Some([true]),
        keys::sizes = [1, 2],
        keys::changes = None::<Vec<i64>>,
    ),
    result(keys::ratios = |ratios| ratios)
)]
fn list(names: &[String]) -> Vec<f32> {
    names.iter().map(|_| 0.5).collect()
}

pub(crate) fn main() {
    load("gold");
    list(&["a".to_owned()]);
}
