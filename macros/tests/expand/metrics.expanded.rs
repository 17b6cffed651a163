::tracecast::__private::in_section! {
    metrics #[doc = " Bytes received from peers."] #[cfg(unix)] pub static P2P_BYTES :
    ::tracecast::__private::Counter < (::tracecast::__private::LabelOf < keys::source >,
    ::tracecast::__private::LabelOf < keys::device >,), u64 > = { const fn __tc_declare <
    __TcLabels : ::tracecast::__private::LabelSet > (__tc_source : & 'static
    ::tracecast::__private::Source,) -> (::tracecast::__private::MetricMeta,
    ::tracecast::__private::Counter < __TcLabels, u64 >) { let __tc_meta = { use
    ::tracecast::__private::Counter as __TcMetric; __TcMetric:: < __TcLabels, u64 >
    ::meta("tc_p2p_bytes_total", "By", "Bytes received from peers.").budget(5000) };
    (__tc_meta, ::tracecast::__private::Counter::new(__tc_meta, __tc_source)) } let
    (__tc_meta, __tc_metric) = __tc_declare(&
    ::tracecast::__private::Source::here("store", "1.2.3")); if let
    ::core::option::Option::Some(__tc_mistake) = __tc_meta.mistake() {
    ::core::panic!("{}", __tc_mistake.as_str()) } __tc_metric };
}
::tracecast::__private::in_section! {
    metrics static LOAD : ::tracecast::__private::Histogram <
    (::tracecast::__private::LabelOf < keys::source >,), f64 > = { const fn __tc_declare
    < __TcLabels : ::tracecast::__private::LabelSet > (__tc_source : & 'static
    ::tracecast::__private::Source,) -> (::tracecast::__private::MetricMeta,
    ::tracecast::__private::Histogram < __TcLabels, f64 >) { let __tc_meta = { use
    ::tracecast::__private::Histogram as __TcMetric; __TcMetric:: < __TcLabels, f64 >
    ::meta("tc_load_seconds", "s", "").buckets(& [0.1, 1.0, 5.5]) }; (__tc_meta,
    ::tracecast::__private::Histogram::new(__tc_meta, __tc_source)) } let (__tc_meta,
    __tc_metric) = __tc_declare(& ::tracecast::__private::Source::here("store",
    "1.2.3")); if let ::core::option::Option::Some(__tc_mistake) = __tc_meta.mistake() {
    ::core::panic!("{}", __tc_mistake.as_str()) } __tc_metric };
}
::tracecast::__private::in_section! {
    metrics static SIZE : ::tracecast::__private::Histogram < (), u64 > = { const fn
    __tc_declare < __TcLabels : ::tracecast::__private::LabelSet > (__tc_source : &
    'static ::tracecast::__private::Source,) -> (::tracecast::__private::MetricMeta,
    ::tracecast::__private::Histogram < __TcLabels, u64 >) { let __tc_meta = { use
    ::tracecast::__private::Histogram as __TcMetric; __TcMetric:: < __TcLabels, u64 >
    ::meta("tc_load_bytes", "By", "").exponential() }; (__tc_meta,
    ::tracecast::__private::Histogram::new(__tc_meta, __tc_source)) } let (__tc_meta,
    __tc_metric) = __tc_declare(& ::tracecast::__private::Source::here("store",
    "1.2.3")); if let ::core::option::Option::Some(__tc_mistake) = __tc_meta.mistake() {
    ::core::panic!("{}", __tc_mistake.as_str()) } __tc_metric };
}
::tracecast::__private::in_section! {
    metrics static FREE : ::tracecast::__private::ObservableGauge < (), f64 > = { const
    fn __tc_declare < __TcLabels : ::tracecast::__private::LabelSet > (__tc_source : &
    'static ::tracecast::__private::Source,) -> (::tracecast::__private::MetricMeta,
    ::tracecast::__private::ObservableGauge < __TcLabels, f64 >) { let __tc_meta = { use
    ::tracecast::__private::ObservableGauge as __TcMetric; __TcMetric:: < __TcLabels, f64
    > ::meta("tc_pool_free", "{slot}", "") }; (__tc_meta,
    ::tracecast::__private::ObservableGauge::new(__tc_meta, __tc_source)) } let
    (__tc_meta, __tc_metric) = __tc_declare(&
    ::tracecast::__private::Source::here("store", "1.2.3")); if let
    ::core::option::Option::Some(__tc_mistake) = __tc_meta.mistake() {
    ::core::panic!("{}", __tc_mistake.as_str()) } __tc_metric };
}
