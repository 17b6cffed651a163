//! What came with a request goes on with every request below it: from children, tasks, unsampled spans, and where nothing
//! is recorded.

use tracecast::prelude::*;
use tracecast::testing::RecordingConfig;
use tracecast::{Context, Kind, Sampler, Span, current, propagation};

use crate::turn::{start_recording, turn};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

type List = Vec<(String, String)>;

fn incoming(flags: &str) -> List {
    let headers = [
        ("traceparent", format!("00-{TRACE}-b7ad6b7169203331-{flags}")),
        ("tracestate", "a=1".to_owned()),
        ("baggage", "tenant=x".to_owned()),
    ];
    headers.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn outgoing() -> List {
    let mut headers = List::new();
    propagation::inject(&Context::current(), &mut headers);
    headers
}

#[tc_span("Inner/Call")]
fn inner() -> List {
    outgoing()
}

#[tc_span("Middle/Call")]
fn middle() -> List {
    let context = Context::current();
    std::thread::spawn(move || context.run(inner)).join().unwrap()
}

#[tc_span("Outer/Serve", kind = server, parent = propagation::extract(headers))]
fn serve(headers: &List) -> List {
    middle()
}

#[track_caller]
fn assert_goes_on(headers: &List, span_id: &str, flags: &str) {
    let mut expected = incoming(flags);
    expected[0].1 = format!("00-{TRACE}-{span_id}-{flags}");
    assert_eq!(*headers, expected);
}

#[test]
fn a_recorded_request_goes_on_from_its_innermost_span() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    for flags in ["01", "03"] {
        let headers = serve(&incoming(flags));
        let spans = recording.drain();
        assert_eq!(spans.len(), 3);
        let inner = spans.iter().find(|span| span.name == "Inner/Call").unwrap();
        assert_goes_on(&headers, &inner.span_id.to_string(), flags);
        assert!(spans.iter().all(|span| span.trace_id.to_string() == TRACE && span.attributes.is_empty()));
    }
}

#[test]
fn an_unsampled_request_goes_on_as_it_came() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    for flags in ["00", "02"] {
        assert_eq!(serve(&incoming(flags)), incoming(flags));
    }
    assert_eq!(recording.drain().len(), 0);
}

#[test]
fn baggage_without_a_trace_belongs_to_the_one_that_begins() {
    let _turn = turn();
    for sampler in [Sampler::AlwaysOn, Sampler::AlwaysOff] {
        let config = RecordingConfig::default().with_sampler(sampler.clone());
        let recording = start_recording(config);
        let headers = serve(&incoming("01")[2..].to_vec());
        assert_eq!(headers.len(), 2, "{headers:?}");
        assert_eq!(headers[0].0, "traceparent");
        let sampled = recording.drain().len() == 3;
        assert!(headers[0].1.ends_with(if sampled { "-03" } else { "-02" }), "its id is random: {headers:?}");
        assert_eq!(headers[1], incoming("01")[2]);
    }
}

#[test]
fn where_nothing_is_recorded_contexts_can_be_current() {
    let _turn = turn();
    let caller = propagation::extract(&incoming("01"));
    let headers = caller.run(middle_without_spans);
    assert_eq!(headers, incoming("01"));
    assert_eq!(outgoing(), []);
}

fn middle_without_spans() -> List {
    assert_eq!(current().baggage("tenant").as_deref(), Some("x"));
    inner()
}

#[test]
fn baggage_is_added_replaced_and_left_behind() {
    let _turn = turn();
    let caller = propagation::extract(&incoming("01"));
    let more = caller.with_baggage("tenant", "y z").unwrap().with_baggage("step", "1").unwrap();
    let entries: Vec<_> = more.baggage_entries().map(|(key, value)| (key.to_owned(), value.into_owned())).collect();
    assert_eq!(entries, [("tenant".to_owned(), "y z".to_owned()), ("step".to_owned(), "1".to_owned())]);
    assert_eq!((more.trace_state(), more.span_id()), ("a=1", caller.span_id()));
    assert_eq!(more.run(outgoing)[2].1, "tenant=y%20z,step=1");
    assert_eq!(more.without_baggage().run(outgoing), incoming("01")[..2]);
    assert_eq!(Context::default().with_baggage("k", "v").unwrap().run(outgoing).len(), 1);
    let error = caller.with_baggage("no token", "1").unwrap_err();
    assert!(error.to_string().contains("`no token`"), "{error}");
}

mod keys {
    tracecast::tc_keys! {
        /// A session, which goes along with requests.
        pub id session: str = "tc.test.session" { baggage };
        /// A step, which stays here.
        pub id step: str = "tc.test.step";
    }
}

#[tc_span("Session/Run", share(keys::session = "s 1", keys::step = "load"))]
fn session() -> List {
    inner()
}

#[test]
fn keys_that_are_shared_go_along_if_they_are_declared_so() {
    let _turn = turn();
    let mut headers = Vec::new();
    let captured = tracecast::testing::capture(|| headers = session());
    let baggage: Vec<_> = headers.iter().filter(|(name, _)| name == "baggage").collect();
    assert_eq!(baggage, [&("baggage".to_owned(), "tc.test.session=s%201".to_owned())]);
    assert_eq!(captured.span("Inner/Call").attribute("tc.test.step"), Some(&"load".into()));
}

#[test]
fn what_a_context_shares_is_on_the_spans_below() {
    let _turn = turn();
    let context = propagation::extract(&incoming("01")).with_shared(keys::session, "s").with_shared(keys::session, "t");
    let captured = tracecast::testing::capture(|| context.run(inner));
    let span = captured.span("Inner/Call");
    assert_eq!(span.attribute("tc.test.session"), Some(&"t".into()));
    assert_eq!((span.trace_id.to_string().as_str(), span.trace_state.as_str()), (TRACE, "a=1"));
    assert_eq!(context.baggage("tc.test.session").as_deref(), Some("t"));
}

#[test]
fn a_root_has_nothing_of_what_is_around_it() {
    let _turn = turn();
    let captured = tracecast::testing::capture(|| {
        propagation::extract(&incoming("01")).run(|| {
            let caller = Context::current();
            let mut span = Span::builder("Edge/Serve", Kind::Server).as_root().with_links(&caller).start();
            span.in_scope(|| assert_eq!(outgoing().len(), 1));
        });
    });
    let span = captured.span("Edge/Serve");
    assert_ne!(span.trace_id.to_string(), TRACE);
    assert_eq!((span.parent_span_id, span.trace_state.as_str()), (None, ""));
    assert_eq!(span.links[0].trace_id.to_string(), TRACE);
}

#[test]
fn a_builder_may_have_its_own_sampler_and_a_parent_decides_before_it() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default().with_sampler(Sampler::AlwaysOff));
    let recorded = |sampler: Sampler, parent: &Context| {
        Span::builder("Route/Get", Kind::Server).with_parent(parent).with_sampler(sampler).start().is_recording()
    };
    let none = Context::default();
    assert!(recorded(Sampler::AlwaysOn, &none));
    assert!(!recorded(Sampler::AlwaysOff, &none));
    assert!(!recorded(Sampler::Ratio(0.0), &none));
    assert!(recorded(Sampler::Ratio(1.0), &none));
    let by_name = Sampler::Custom(std::sync::Arc::new(|root: &tracecast::Root<'_>| root.name == "Route/Get"));
    assert!(recorded(by_name, &none));
    assert!(recorded(Sampler::AlwaysOff, &propagation::extract(&incoming("01"))));
    assert!(!recorded(Sampler::AlwaysOn, &propagation::extract(&incoming("00"))));
    assert!(Span::builder("Route/Get", Kind::Server).with_sampler(Sampler::AlwaysOn).start().is_recording());
    assert!(!Span::builder("Route/Get", Kind::Server).start().is_recording());
    assert_eq!(recording.drain().len(), 5);
}

#[test]
fn a_value_for_which_there_is_no_room_takes_the_old_one_away() {
    let _turn = turn();
    let context = Context::default().with_shared(keys::session, "old");
    assert_eq!(context.baggage("tc.test.session").as_deref(), Some("old"));
    let long = "x".repeat(1 << 20);
    let full = context.with_baggage("filling", &"y".repeat(7_000)).unwrap().with_shared(keys::session, &long[..2_000]);
    assert_eq!(full.baggage("tc.test.session"), None);
}

#[tc_span("Outer/Call", kind = client)]
fn client() -> List {
    outgoing()
}

#[tc_span("Outer/AsyncCall", kind = client)]
async fn async_client() -> List {
    outgoing()
}

#[tc_span("Outer/Serve", parent = propagation::extract(&headers))]
async fn serve_async(headers: List) -> List {
    tokio::task::yield_now().await;
    inner()
}

#[tc_span("Outer/Serve", future, parent = propagation::extract(headers))]
fn serve_future(headers: &List) -> impl Future<Output = List> + use<> {
    let sent = inner();
    async move { if outgoing() == sent { sent } else { List::new() } }
}

#[tc_span("Outer/Serve", parent = propagation::extract(headers))]
fn serve_stream(headers: &List) -> impl futures::Stream<Item = List> + use<> {
    async_stream::stream! {
        yield inner();
        tokio::task::yield_now().await;
        yield inner();
    }
}

#[tc_span("Outer/Serve", parent = propagation::extract(headers))]
#[tc_metric(calls = "tc_propagated_total")]
fn serve_measured(headers: &List) -> List {
    inner()
}

/// What goes out in all forms of a function that names its parent, of which some are polled on another thread.
fn below_a_named_parent(headers: &List) -> Vec<List> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let elsewhere = runtime.block_on(runtime.spawn(serve_async(headers.clone()))).unwrap();
    let mut sent = vec![serve(headers), elsewhere, serve_measured(headers)];
    sent.push(runtime.block_on(runtime.spawn(serve_future(headers))).unwrap());
    sent.extend(runtime.block_on(futures::StreamExt::collect::<Vec<_>>(serve_stream(headers))));
    let scope = tc_scope!("Outer/Scope", parent = propagation::extract(headers));
    sent.push(inner());
    drop(scope);
    let mut built = Span::builder("Outer/Built", Kind::Server).with_parent(propagation::extract(headers)).start();
    sent.push(built.in_scope(inner));
    sent
}

#[test]
fn a_named_parent_goes_on_where_nothing_is_recorded() {
    let _turn = turn();
    let check = || {
        for flags in ["00", "01", "03"] {
            let sent = below_a_named_parent(&incoming(flags));
            assert_eq!(sent, vec![incoming(flags); sent.len()]);
            assert_eq!(outgoing(), List::new(), "it is current inside of the function only");
        }
        let baggage = vec![("baggage".to_owned(), "tenant=x".to_owned())];
        assert_eq!(serve(&baggage), baggage);
        assert_eq!(serve(&vec![("traceparent".to_owned(), "wrong".to_owned())]), List::new());
        // As with a span: an invalid parent means that there is none.
        assert_eq!(propagation::extract(&incoming("01")).run(|| serve(&List::new())), List::new());
    };
    check();
    let metrics = tracecast::testing::MetricsGuard::start(Default::default()).unwrap();
    check();
    drop(metrics);
    // After spans were recorded, and while all of them are filtered.
    let recording = start_recording(RecordingConfig::default());
    recording.set_filter("*=off".parse().unwrap());
    check();
    assert_eq!(recording.drain().len(), 0);
    drop(recording);
    check();
}

#[tc_span("Outer/Publish", kind = producer, parent = context.clone())]
fn producer_below(context: &Context) -> List {
    outgoing()
}

/// The trace, the spans and the flags of everything that goes out, in all ways that a span about a call can begin.
fn calls(below: &Context) -> (String, Vec<String>, String) {
    let mut span = Span::builder("Outer/Built", Kind::Client).start();
    let by_hand = span.in_scope(outgoing);
    let below = producer_below(below);
    let scope = {
        let _scope = tc_scope!("Outer/Scope", kind = client);
        outgoing()
    };
    let all = [client(), client(), futures::executor::block_on(async_client()), by_hand, below, scope];
    let parents: Vec<&str> = all.iter().map(|headers| headers[0].1.as_str()).collect();
    let (trace, flags) = (parents[0][3..35].to_owned(), parents[0][53..].to_owned());
    assert!(parents.iter().all(|parent| parent[3..35] == trace && parent[53..] == flags), "{parents:?}");
    let mut ids: Vec<_> = parents.iter().map(|parent| parent[36..52].to_owned()).collect();
    ids.sort_unstable();
    (trace, ids, flags)
}

#[test]
fn each_unsampled_call_has_a_parent_of_its_own() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default().with_sampler(Sampler::AlwaysOff));
    let check = |around: &Context, flags: &str| {
        let (trace, mut ids, seen) = calls(around);
        assert_eq!((trace, seen.as_str()), (around.trace_id().to_string(), flags));
        ids.push(around.span_id().to_string());
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{ids:?}");
    };
    let _root = tc_scope!("Outer/Root");
    check(&Context::current(), "02");
    for flags in ["00", "02"] {
        let caller = propagation::extract(&incoming(flags));
        caller.run(|| check(&caller, flags));
        // Whoever hands on a context as it is hands on its ids.
        assert_eq!(caller.run(outgoing), incoming(flags));
    }
    assert_eq!(recording.accounting().dropped.total(), 0);
    assert_eq!(recording.drain().len(), 0);
}

#[test]
fn spans_below_pass_on_whether_the_trace_id_is_random() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    for flags in ["01", "03"] {
        let caller = propagation::extract(&incoming(flags));
        let sent = caller.run(|| [middle(), inner(), client()]);
        assert!(sent.iter().all(|headers| headers[0].1.ends_with(&format!("-{flags}"))), "{sent:?}");
    }
    assert!([middle(), inner(), client()].iter().all(|headers| headers[0].1.ends_with("-03")));
    drop(recording);
}
