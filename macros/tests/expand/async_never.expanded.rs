fn serve() -> impl ::core::future::Future<
    Output = <fn() -> ! as ::tracecast::__private::FnOutput>::Output,
> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Serve\nstore\n1.2.3", 11u16);
    }
    ::tracecast::__private::wrap(
        &__TC_CALLSITE,
        async move {
            #[allow(unreachable_code, clippy::diverging_sub_expression)]
            if false {
                return ::tracecast::__private::Tag::<
                    <fn() -> ! as ::tracecast::__private::FnOutput>::Output,
                >::unreachable();
            }
            loop {
                accept().await;
            }
        },
        (),
    )
}
