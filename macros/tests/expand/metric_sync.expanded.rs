fn load(id: &str, source: SourceType) -> Result<Replica, StoreError> {
    type __TcLabel0 = ::tracecast::__private::LabelOf<keys::source>;
    type __TcLabel1 = ::tracecast::__private::LabelOf<keys::tier>;
    const __TC_ERROR_TYPES: &[&::core::primitive::str] = {
        use ::tracecast::__private::FallbackTypes as _;
        <::tracecast::__private::ErrorSet<Result<(), StoreError>>>::TYPES
    };
    const __TC_CALLS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_loads_total", "", "Calls of `load`")
            .outcomes()
            .error_types(__TC_ERROR_TYPES)
            .budget(500)
    }
        .labelled(
            &[
                <__TcLabel0 as ::tracecast::__private::Key>::META,
                <::tracecast::__private::OrNone<
                    __TcLabel1,
                > as ::tracecast::__private::Key>::META,
            ],
        );
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_CALLS_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    const __TC_DURATION_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Histogram as __TcMetric;
        __TcMetric::<(), f64>::meta("tc_load_seconds", "s", "Duration of `load`")
            .buckets(&[0.1, 1.0])
            .budget(500)
    }
        .labelled(
            &[
                <__TcLabel0 as ::tracecast::__private::Key>::META,
                <::tracecast::__private::OrNone<
                    __TcLabel1,
                > as ::tracecast::__private::Key>::META,
            ],
        );
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_DURATION_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::in_section! {
        metrics static __TC_CALLS : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_CALLS_META, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    ::tracecast::__private::in_section! {
        metrics static __TC_DURATION : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_DURATION_META, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .calls(&__TC_CALLS)
        .duration(&__TC_DURATION)
        .results::<(::tracecast::__private::OrNone<__TcLabel1>,)>();
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::metered(& __TC_METER, &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    let __tc_body = ::tracecast::__private::measured_body(move |
        __tc_start,
    | -> Result<Replica, StoreError> {
        ::tracecast::__private::start_metric(
            __tc_start,
            || ::tracecast::__private::Labels::new().label::<__TcLabel0>(source),
        );
        {
            let replica = fetch(id)?;
            Ok(replica)
        }
    });
    if __TC_CALLSITE.is_on() {
        ::tracecast::__private::measured(
            &__TC_CALLSITE,
            __tc_body,
            ::tracecast::__private::unobserved,
            |__tc_result, __tc_verdict| {
                {
                    use ::tracecast::__private::probe::*;
                    (&&&Probe(__tc_result)).judge(__tc_verdict);
                }
                #[allow(
                    clippy::redundant_closure,
                    clippy::redundant_closure_for_method_calls
                )]
                if let ::core::option::Option::Some(__tc_value) = {
                    use ::tracecast::__private::probe::*;
                    (&Probe(__tc_result)).success()
                } {
                    let __tc_field0 = ::tracecast::__private::apply(
                        __tc_value,
                        |replica| replica.tier(),
                    );
                    __tc_verdict.label::<__TcLabel1>(__tc_field0);
                }
            },
        )
    } else {
        __tc_body(::core::option::Option::None)
    }
}
