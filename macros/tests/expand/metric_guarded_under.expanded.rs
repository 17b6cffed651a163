#[track_caller]
fn load(context: Context) {
    const __TC_CALLS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_loads_total", "", "Calls of `Store/Load`")
            .outcomes()
    };
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_CALLS_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::in_section! {
        metrics static __TC_CALLS : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_CALLS_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .calls(&__TC_CALLS);
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Load\nstore\n1.2.3", 10u16)
        .names_parent().meter(& __TC_METER);
    }
    let __tc_guard = ::tracecast::__private::enter(
        ::tracecast::__private::Metered(&__TC_CALLSITE),
        |__tc_begin| {
            __tc_begin
                .labels(|| ::tracecast::__private::Labels::new())
                .span_under(|| context, |_| {})
        },
    );
    {
        fetch();
    }
}
