fn load(id: u64) {
    const __TC_IN_FLIGHT_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::UpDownCounter as __TcMetric;
        __TcMetric::<
            (),
            i64,
        >::meta("tc_loads_in_flight", "", "Calls of `load` in progress")
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_IN_FLIGHT_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    const __TC_DURATION_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Histogram as __TcMetric;
        __TcMetric::<(), f64>::meta("tc_load_seconds", "s", "Duration of `load`")
            .exponential()
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
    static __TC_IN_FLIGHT: ::tracecast::__private::Metric = ::tracecast::__private::Metric::new(
        __TC_IN_FLIGHT_META,
    );
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
        .in_flight(&__TC_IN_FLIGHT)
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
    let __tc_body = ::tracecast::__private::measured_body(move |__tc_start| {
        ::tracecast::__private::start_metric(
            __tc_start,
            || ::tracecast::__private::Labels::new(),
        );
        fetch(id)
    });
    if __TC_CALLSITE.is_on() {
        ::tracecast::__private::measured(
            &__TC_CALLSITE,
            __tc_body,
            ::tracecast::__private::unobserved,
            ::tracecast::__private::unjudged,
        )
    } else {
        __tc_body(::core::option::Option::None)
    }
}
