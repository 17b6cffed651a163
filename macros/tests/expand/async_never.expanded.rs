fn serve() -> impl ::core::future::Future<
    Output = <fn() -> ! as ::tracecast::__private::FnOutput>::Output,
> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Serve", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    ::tracecast::__private::Instrumented::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin(
                &__TC_CALLSITE,
                ::tracecast::__private::no_fields,
            )
        } else {
            ::core::option::Option::None
        },
        async move {
            #[allow(unreachable_code, clippy::diverging_sub_expression)]
            if false {
                return ::tracecast::__private::unreachable_value::<
                    <fn() -> ! as ::tracecast::__private::FnOutput>::Output,
                >();
            }
            loop {
                accept().await;
            }
        },
        ::tracecast::__private::unobserved,
    )
}
