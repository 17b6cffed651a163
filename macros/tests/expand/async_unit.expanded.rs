fn tick(self) -> impl ::core::future::Future<Output = ()> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Tick\nstore\n1.2.3", 10u16)
        .needs_parent();
    }
    ::tracecast::__private::wrap(
        &__TC_CALLSITE,
        async move {
            {
                let _ = &self;
                if false {
                    return;
                }
                {
                    self.step().await;
                }
            }
        },
        (),
    )
}
