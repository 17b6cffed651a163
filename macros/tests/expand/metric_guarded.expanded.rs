#[track_caller]
fn load(source: SourceType) -> u8 {
    type __TcLabel0 = ::tracecast::__private::LabelOf<keys::source>;
    const __TC_CALLS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_loads_total", "", "Calls of `load`").outcomes()
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_CALLS_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
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
    static __TC_CALLS: ::tracecast::__private::Metric = ::tracecast::__private::Metric::new(
        __TC_CALLS_META,
    );
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .calls(&__TC_CALLS);
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
        unsafe(link_section = "tc0_1_spans")
    )]
    #[cfg_attr(
        all(not(miri), target_vendor = "apple"),
        unsafe(link_section = "__DATA,tc0_1_spans")
    )]
    #[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01s$b"))]
    static __TC_CALLSITE: ::tracecast::__private::Callsite = ::tracecast::__private::Callsite::metered(
        &__TC_METER,
    );
    let __tc_guard = ::tracecast::__private::MeasuredScope::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::enter_metric(
                &__TC_CALLSITE,
                || ::tracecast::__private::Labels::new().label::<__TcLabel0>(source),
            )
        } else {
            ::core::option::Option::None
        },
    );
    fetch(source)
}
