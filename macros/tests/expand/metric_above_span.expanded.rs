fn load(
    source: SourceType,
    context: Context,
) -> impl ::core::future::Future<Output = Result<Replica, StoreError>> {
    type __TcLabel0 = ::tracecast::__private::LabelOf<keys::source>;
    const __TC_DURATION_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Histogram as __TcMetric;
        __TcMetric::<(), f64>::meta("tc_load_seconds", "s", "Duration of `Store/Load`")
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
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
        ::tracecast::__private::callsite("Store/Load\nstore\n1.2.3", 10u16)
        .names_parent().meter(& __TC_METER);
    }
    ::tracecast::__private::Instrumented::wrap(
        ::tracecast::__private::begin(
            ::tracecast::__private::Metered(&__TC_CALLSITE),
            |__tc_begin| {
                __tc_begin
                    .labels(|| {
                        ::tracecast::__private::Labels::new().label::<__TcLabel0>(source)
                    })
                    .span_under(|| context, |_| {})
            },
        ),
        async move {
            {
                let source = source;
                let _ = &source;
                let context = context;
                let _ = &context;
                if false {
                    return ::tracecast::__private::Tag::<
                        Result<Replica, StoreError>,
                    >::unreachable();
                }
                fetch(source).await
            }
        },
        (),
    )
}
