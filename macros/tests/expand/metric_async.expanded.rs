fn load(request: Request, device: u32) -> impl ::core::future::Future<Output = Loaded> {
    type __TcLabel0 = ::tracecast::__private::LabelOf<keys::source>;
    const __TC_ERROR_TYPES: &[&::core::primitive::str] = {
        use ::tracecast::__private::FallbackTypes as _;
        <::tracecast::__private::ErrorSet<::core::result::Result<(), StoreError>>>::TYPES
    };
    const __TC_CALLS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_loads_total", "", "Calls of `load`")
            .outcomes()
            .error_types(__TC_ERROR_TYPES)
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_CALLS_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    const __TC_ERRORS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_load_errors_total", "", "Failed calls of `load`")
            .failures()
            .error_types(__TC_ERROR_TYPES)
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_ERRORS_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::in_section! {
        metrics static __TC_CALLS : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_CALLS_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    ::tracecast::__private::in_section! {
        metrics static __TC_ERRORS : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_ERRORS_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .calls(&__TC_CALLS)
        .errors(&__TC_ERRORS);
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("\nstore\n1.2.3", 0u16).meter(& __TC_METER);
    }
    use ::tracecast::__private::Otherwise as _;
    ::tracecast::__private::Instrumented::wrap(
        ::tracecast::__private::begin(
            ::tracecast::__private::Metered(&__TC_CALLSITE),
            |__tc_begin| {
                __tc_begin
                    .labels(|| {
                        ::tracecast::__private::Labels::new()
                            .label::<__TcLabel0>(request.source)
                    })
                    .start()
            },
        ),
        async move {
            {
                let request = request;
                let _ = &request;
                let device = device;
                if false {
                    return ::tracecast::__private::Tag::<Loaded>::unreachable();
                }
                fetch(request, device).await
            }
        },
        (
            ::tracecast::__private::Tag::<Loaded>::ERRORS,
            ::tracecast::__private::Tag::<Loaded>::TYPES,
            ::tracecast::__private::Tag::<Loaded>::MESSAGES,
        ),
    )
}
