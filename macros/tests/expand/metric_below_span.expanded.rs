/// Loads.
fn load(id: &str, source: SourceType) -> Result<Replica, StoreError> {
    type __TcLabel0 = ::tracecast::__private::LabelOf<keys::source>;
    type __TcLabel1 = ::tracecast::__private::LabelOf<keys::tier>;
    const __TC_ERROR_TYPES: &[&::core::primitive::str] = {
        use ::tracecast::__private::FallbackTypes as _;
        <::tracecast::__private::ErrorSet<Result<(), StoreError>>>::TYPES
    };
    const __TC_CALLS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_loads_total", "", "Calls of `Store/Load`")
            .outcomes()
            .error_types(__TC_ERROR_TYPES)
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
        __TcMetric::<(), f64>::meta("tc_load_seconds", "s", "Duration of `Store/Load`")
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
    type __TcAttr0 = keys::artifact;
    type __TcResult0 = keys::bytes;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Load", &
        ::tracecast::__private::source("store", "1.2.3")).keys(& [< __TcAttr0 as
        ::tracecast::__private::Key > ::META, < __TcResult0 as
        ::tracecast::__private::Key > ::META]).meter(& __TC_METER);
    }
    let __tc_body = ::tracecast::__private::measured_body(move |
        __tc_start,
    | -> Result<Replica, StoreError> {
        ::tracecast::__private::start_measured(
            __tc_start,
            |__tc_start| {
                __tc_start.attr::<__TcAttr0>(id);
            },
            || ::tracecast::__private::Labels::new().label::<__TcLabel0>(source),
        );
        fetch(id)
    });
    if __TC_CALLSITE.is_on() {
        ::tracecast::__private::measured(
            &__TC_CALLSITE,
            __tc_body,
            |__tc_result, __tc_end| {
                {
                    use ::tracecast::__private::probe::*;
                    (&&&Probe(__tc_result)).report(__tc_end);
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
                        |r| r.len(),
                    );
                    __tc_end.attr::<__TcResult0>(__tc_field0);
                }
            },
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
                        |r| r.tier(),
                    );
                    __tc_verdict.label::<__TcLabel1>(__tc_field0);
                }
            },
        )
    } else {
        __tc_body(::core::option::Option::None)
    }
}
