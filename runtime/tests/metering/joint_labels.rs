//! One label may be several attributes on metrics: those that depend on each other take no more series than there are pairs.

use std::borrow::Cow;

use tracecast::Label;
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};

use crate::turn::turn;

/// The first has no method: an attribute without text is left out.
const PAIRS: [(&str, &str); 4] = [("store", ""), ("store", "put"), ("loader", "load"), ("store", "get")];

/// A service with one of its methods.
#[derive(Clone, Copy)]
pub struct Method(usize);

impl Label for Method {
    const CARDINALITY: usize = PAIRS.len();
    const PARTS: &'static [&'static str] = &["rpc.service", "rpc.method"];

    fn ordinal(self) -> usize {
        self.0
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        let (service, method) = PAIRS[ordinal];
        format!("{service}/{method}").into()
    }

    fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
        let (service, method) = PAIRS[ordinal];
        Cow::Borrowed(if part == 0 { service } else { method })
    }
}

mod keys {
    tracecast::tc_keys! {
        /// What is called.
        pub label method: super::Method = "rpc.method";
    }
}

tc_metrics! {
    /// Calls.
    static CALLS: Counter<(keys::method, tracecast::keys::device)> = "tc_calls_total";
}

#[test]
fn a_label_of_two_parts_is_two_attributes() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    CALLS.add(1, (Method(1), 3_u32));
    CALLS.add(2, (Method(2), 4_u32));
    let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    let expected = [
        "tc_calls_total{rpc.service=store, rpc.method=put, tc.device.id=3} 1\n",
        "tc_calls_total{rpc.service=loader, rpc.method=load, tc.device.id=4} 2\n",
    ];
    assert_eq!(snapshot.to_string(), expected.concat());
    assert_eq!(CALLS.declaration().series(), 4 * 17);
    let text = snapshot.to_prometheus();
    let line = r#"tc_calls_total{rpc_service="store",rpc_method="put",tc_device_id="3"} 1"#;
    assert!(text.lines().any(|found| found == line), "{text}");
}

#[cfg(feature = "otlp")]
#[test]
fn a_catalogue_lists_all_parts_whatever_the_first_value_lacks() {
    let json = tracecast::catalogue().data().to_json();
    let (_, calls) = json.split_once("tc_calls_total").unwrap();
    let (_, labels) = calls.split_once("rpc.service").unwrap();
    assert!(labels.trim_start_matches(['"', ',', ' ', '\n']).starts_with("rpc.method"), "{calls}");
}
