fn tick(self) -> impl ::core::future::Future<Output = ()> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Tick", &
        ::tracecast::__private::source("store", "1.2.3")).needs_parent();
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
            let _ = &self;
            if false {
                return;
            }
            {
                self.step().await;
            }
        },
        ::tracecast::__private::unobserved,
    )
}
