fn put(
    key: Key,
    __tc_arg1: (u8, u8),
    Sized { size }: Sized,
    __tc_arg3: Guard,
    __tc_arg4: Lock,
    #[cfg(unix)]
    mode: u32,
) -> impl ::core::future::Future<Output = Result<u8, StoreError>> {
    type __TcAttr0 = keys::bytes;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Put", &
        ::tracecast::__private::source("store", "1.2.3")).keys(& [< __TcAttr0 as
        ::tracecast::__private::Key > ::META]);
    }
    ::tracecast::__private::Instrumented::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin(
                &__TC_CALLSITE,
                |__tc_start| {
                    __tc_start.attr::<__TcAttr0>(size);
                },
            )
        } else {
            ::core::option::Option::None
        },
        async move {
            let mut key = key;
            let __tc_arg1 = __tc_arg1;
            let (a, _) = __tc_arg1;
            let size = size;
            let _ = &size;
            let __tc_arg3 = __tc_arg3;
            let _lock = { __tc_arg4 };
            #[cfg(unix)]
            let mode = mode;
            if false {
                return ::tracecast::__private::unreachable_value::<
                    Result<u8, StoreError>,
                >();
            }
            {
                key.touch();
                Ok(a)
            }
        },
        |__tc_result, __tc_end| {
            use ::tracecast::__private::probe::*;
            (&&&Probe(__tc_result)).report_type(__tc_end);
        },
    )
}
