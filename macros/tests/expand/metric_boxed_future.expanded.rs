fn load(&self) -> BoxFuture<'_, io::Result<u8>> {
    const __TC_DURATION_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Histogram as __TcMetric;
        __TcMetric::<(), f64>::meta("tc_load_seconds", "s", "Duration of `load`")
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_DURATION_META
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
    static __TC_DURATION: ::tracecast::__private::Metric = ::tracecast::__private::Metric::new(
        __TC_DURATION_META,
    );
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .duration(&__TC_DURATION);
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
    ::tracecast::__private::rewrap_measured(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin_metric(
                &__TC_CALLSITE,
                || ::tracecast::__private::Labels::new(),
            )
        } else {
            ::core::option::Option::None
        },
        ::tracecast::__private::call(|| -> BoxFuture<'_, io::Result<u8>> {
            self.inner.load()
        }),
        ::tracecast::__private::unobserved,
        |__tc_result: &io::Result<u8>, __tc_verdict| {
            {
                use ::tracecast::__private::probe::*;
                (&&&Probe(__tc_result)).judge(__tc_verdict);
            }
        },
    )
}
