/// Loads.
fn load(id: &str, source: SourceType) -> Result<Replica, StoreError> {
    use ::tracecast::__private::Otherwise as _;
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
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    ::tracecast::__private::in_section! {
        metrics static __TC_DURATION : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_DURATION_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .calls(&__TC_CALLS)
        .duration(&__TC_DURATION)
        .results::<(::tracecast::__private::OrNone<__TcLabel1>,)>();
    type __TcAttr0 = keys::artifact;
    type __TcResult0 = keys::bytes;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Load\nstore\n1.2.3", 10u16).keys(& (& [<
        __TcAttr0 as ::tracecast::__private::Key > ::META, < __TcResult0 as
        ::tracecast::__private::Key > ::META] as & [_])).meter(& __TC_METER);
    }
    ::tracecast::__private::run_begun(
        ::tracecast::__private::Metered(&__TC_CALLSITE),
        move |__tc_begin| -> Result<Replica, StoreError> {
            __tc_begin
                .labels(|| {
                    ::tracecast::__private::Labels::new().label::<__TcLabel0>(source)
                })
                .span(|__tc_start| {
                    __tc_start.attr::<__TcAttr0>(id);
                });
            fetch(id)
        },
        (
            (
                (
                    ::tracecast::__private::Tag::<Result<Replica, StoreError>>::ERRORS,
                    ::tracecast::__private::Tag::<Result<Replica, StoreError>>::TYPES,
                    ::tracecast::__private::Tag::<Result<Replica, StoreError>>::MESSAGES,
                ),
                ::tracecast::__private::Tag::<Result<Replica, StoreError>>::NEW
                    .given()
                    .attributes(|__tc_value, __tc_target| {
                        #[allow(
                            clippy::redundant_closure,
                            clippy::redundant_closure_for_method_calls
                        )]
                        let __tc_field0 = ::tracecast::__private::apply(
                            __tc_value,
                            |r| r.len(),
                        );
                        __tc_target.attr::<__TcResult0>(__tc_field0);
                    }),
            ),
            ::tracecast::__private::Tag::<Result<Replica, StoreError>>::NEW
                .given()
                .labels(|__tc_value, __tc_target| {
                    #[allow(
                        clippy::redundant_closure,
                        clippy::redundant_closure_for_method_calls
                    )]
                    let __tc_field0 = ::tracecast::__private::apply(
                        __tc_value,
                        |r| r.tier(),
                    );
                    __tc_target.label::<__TcLabel1>(__tc_field0);
                }),
        ),
    )
}
