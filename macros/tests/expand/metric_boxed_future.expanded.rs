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
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .duration(&__TC_DURATION);
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("\nstore\n1.2.3", 0u16).meter(& __TC_METER);
    }
    let __tc_span = ::tracecast::__private::begin(
            ::tracecast::__private::Metered(&__TC_CALLSITE),
            |__tc_begin| {
                __tc_begin.labels(|| ::tracecast::__private::Labels::new()).start()
            },
        )
        .making();
    let __tc_made = ::tracecast::__private::apply(
        &(),
        |_| -> BoxFuture<'_, io::Result<u8>> { self.inner.load() },
    );
    ::tracecast::__private::rewrap(
        __tc_span.made(),
        __tc_made,
        |__tc_result: &io::Result<u8>, __tc_seen| {
            use ::tracecast::__private::Otherwise as _;
            __tc_seen
                .by(
                    (
                        ::tracecast::__private::Tag::of(__tc_result).errors(),
                        ::tracecast::__private::Tag::of(__tc_result).types(),
                        ::tracecast::__private::Tag::of(__tc_result).messages(),
                    ),
                    __tc_result,
                );
        },
    )
}
