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
    ::tracecast::__private::in_section! {
        metrics static __TC_IN_FLIGHT : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_IN_FLIGHT_META, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    ::tracecast::__private::in_section! {
        metrics static __TC_DURATION : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_DURATION_META, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .in_flight(&__TC_IN_FLIGHT)
        .duration(&__TC_DURATION);
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::metered(& __TC_METER, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
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
