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
    ::tracecast::__private::in_section! {
        metrics static __TC_DURATION : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_DURATION_META, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .duration(&__TC_DURATION);
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::metered(& __TC_METER, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
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
