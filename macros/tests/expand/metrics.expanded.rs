/// Bytes received from peers.
#[cfg(unix)]
#[used]
#[cfg_attr(
    all(
        not(miri),
        any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "illumos"
        )
    ),
    unsafe(link_section = "tc0_1_metrics")
)]
#[cfg_attr(
    all(not(miri), target_vendor = "apple"),
    unsafe(link_section = "__DATA,tc0_1_metrics")
)]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01m$b"))]
pub static P2P_BYTES: ::tracecast::__private::Counter<
    (keys::source, keys::device),
    u64,
> = {
    const __TC_META: ::tracecast::__private::MetricMeta = {
        type __TcMetric = ::tracecast::__private::Counter<
            (keys::source, keys::device),
            u64,
        >;
        __TcMetric::meta("tc_p2p_bytes_total", "By", "Bytes received from peers.")
            .budget(5000)
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_META.mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::Counter::new(__TC_META)
};
#[used]
#[cfg_attr(
    all(
        not(miri),
        any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "illumos"
        )
    ),
    unsafe(link_section = "tc0_1_metrics")
)]
#[cfg_attr(
    all(not(miri), target_vendor = "apple"),
    unsafe(link_section = "__DATA,tc0_1_metrics")
)]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01m$b"))]
static LOAD: ::tracecast::__private::Histogram<(keys::source,), f64> = {
    const __TC_META: ::tracecast::__private::MetricMeta = {
        type __TcMetric = ::tracecast::__private::Histogram<(keys::source,), f64>;
        __TcMetric::meta("tc_load_seconds", "s", "").buckets(&[0.1, 1.0, 5.5])
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_META.mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::Histogram::new(__TC_META)
};
#[used]
#[cfg_attr(
    all(
        not(miri),
        any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "illumos"
        )
    ),
    unsafe(link_section = "tc0_1_metrics")
)]
#[cfg_attr(
    all(not(miri), target_vendor = "apple"),
    unsafe(link_section = "__DATA,tc0_1_metrics")
)]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01m$b"))]
static SIZE: ::tracecast::__private::Histogram<(), u64> = {
    const __TC_META: ::tracecast::__private::MetricMeta = {
        type __TcMetric = ::tracecast::__private::Histogram<(), u64>;
        __TcMetric::meta("tc_load_bytes", "By", "").exponential()
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_META.mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::Histogram::new(__TC_META)
};
#[used]
#[cfg_attr(
    all(
        not(miri),
        any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "illumos"
        )
    ),
    unsafe(link_section = "tc0_1_metrics")
)]
#[cfg_attr(
    all(not(miri), target_vendor = "apple"),
    unsafe(link_section = "__DATA,tc0_1_metrics")
)]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01m$b"))]
static FREE: ::tracecast::__private::ObservableGauge<(), f64> = {
    const __TC_META: ::tracecast::__private::MetricMeta = {
        type __TcMetric = ::tracecast::__private::ObservableGauge<(), f64>;
        __TcMetric::meta("tc_pool_free", "{slot}", "")
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_META.mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::ObservableGauge::new(__TC_META)
};
