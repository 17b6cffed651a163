fn handle(request: &Request, path: &str) {
    enum __TcAttr0 {}
    impl ::tracecast::__private::Key for __TcAttr0 {
        type Value = ::tracecast::__private::AnyAttribute;
        const META: &'static ::tracecast::__private::KeyMeta = {
            use ::tracecast::__private::KeyMeta as __TcMeta;
            &__TcMeta::ad_hoc::<
                ::tracecast::__private::AnyAttribute,
            >(
                "http.request.header.x-id",
                &::tracecast::__private::Source::here("store", "1.2.3"),
            )
        };
    }
    enum __TcAttr1 {}
    impl ::tracecast::__private::Key for __TcAttr1 {
        type Value = ::core::primitive::str;
        const META: &'static ::tracecast::__private::KeyMeta = {
            use ::tracecast::__private::KeyMeta as __TcMeta;
            &__TcMeta::ad_hoc::<
                ::core::primitive::str,
            >("tc.path", &::tracecast::__private::Source::here("store", "1.2.3"))
        };
    }
    enum __TcAttr2 {}
    impl ::tracecast::__private::Key for __TcAttr2 {
        type Value = [&'static ::core::primitive::str];
        const META: &'static ::tracecast::__private::KeyMeta = {
            use ::tracecast::__private::KeyMeta as __TcMeta;
            &__TcMeta::ad_hoc::<
                [&'static ::core::primitive::str],
            >("tc.tags", &::tracecast::__private::Source::here("store", "1.2.3"))
        };
    }
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Edge/Handle\nstore\n1.2.3", 11u16).keys(& (& [<
        __TcAttr0 as ::tracecast::__private::Key > ::META, < __TcAttr1 as
        ::tracecast::__private::Key > ::META, < __TcAttr2 as ::tracecast::__private::Key
        > ::META] as & [_]));
    }
    ::tracecast::__private::run_begun(
        &__TC_CALLSITE,
        move |__tc_begin| {
            __tc_begin
                .span(|__tc_start| {
                    __tc_start.attr::<__TcAttr0>(request.id());
                    __tc_start.attr::<__TcAttr1>(path);
                    __tc_start.attr::<__TcAttr2>(tags());
                });
            {
                answer(request);
            }
        },
        (),
    )
}
