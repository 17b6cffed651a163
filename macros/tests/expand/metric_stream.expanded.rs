fn tokens(model: Model) -> impl Stream<Item = Result<Token, ModelError>> {
    type __TcLabel0 = ::tracecast::__private::LabelOf<keys::model>;
    const __TC_FIRST_ITEM_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Histogram as __TcMetric;
        __TcMetric::<
            (),
            f64,
        >::meta("tc_first_token_seconds", "s", "Time to the first item of `tokens`")
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_FIRST_ITEM_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    const __TC_PER_ITEM_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Histogram as __TcMetric;
        __TcMetric::<
            (),
            f64,
        >::meta("tc_token_seconds", "s", "Time between two items of `tokens`")
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_PER_ITEM_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    const __TC_ITEMS_META: ::tracecast::__private::MetricMeta = {
        use ::tracecast::__private::Counter as __TcMetric;
        __TcMetric::<(), u64>::meta("tc_tokens_total", "", "Items of `tokens`")
    }
        .labelled(&[<__TcLabel0 as ::tracecast::__private::Key>::META]);
    const _: () = if let ::core::option::Option::Some(__tc_mistake) = __TC_ITEMS_META
        .mistake()
    {
        ::core::panic!("{}", __tc_mistake.as_str())
    };
    ::tracecast::__private::in_section! {
        metrics static __TC_FIRST_ITEM : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_FIRST_ITEM_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    ::tracecast::__private::in_section! {
        metrics static __TC_PER_ITEM : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_PER_ITEM_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    ::tracecast::__private::in_section! {
        metrics static __TC_ITEMS : ::tracecast::__private::Metric =
        ::tracecast::__private::Metric::new(__TC_ITEMS_META, &
        ::tracecast::__private::Source::here("store", "1.2.3"));
    }
    static __TC_METER: ::tracecast::__private::Meter = ::tracecast::__private::Meter::new()
        .first_item(&__TC_FIRST_ITEM)
        .per_item(&__TC_PER_ITEM)
        .items(&__TC_ITEMS);
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("\nstore\n1.2.3", 0u16).meter(& __TC_METER);
    }
    let __tc_span = ::tracecast::__private::begin(
        ::tracecast::__private::Metered(&__TC_CALLSITE),
        |__tc_begin| {
            __tc_begin
                .labels(|| {
                    ::tracecast::__private::Labels::new().label::<__TcLabel0>(model)
                })
                .start()
        },
    );
    ::tracecast::__private::InstrumentedStream::probed(
        __tc_span,
        async_stream::stream! {
            yield 1;
        },
        |__tc_result: &Result<Token, ModelError>, __tc_seen| {
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
