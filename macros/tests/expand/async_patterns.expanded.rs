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
        ::tracecast::__private::callsite("Store/Put\nstore\n1.2.3", 9u16).keys(& (& [<
        __TcAttr0 as ::tracecast::__private::Key > ::META] as & [_]));
    }
    use ::tracecast::__private::Otherwise as _;
    ::tracecast::__private::Instrumented::wrap(
        ::tracecast::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| {
                __tc_begin
                    .span(|__tc_start| {
                        __tc_start.attr::<__TcAttr0>(size);
                    })
            },
        ),
        async move {
            {
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
                    return ::tracecast::__private::Tag::<
                        Result<u8, StoreError>,
                    >::unreachable();
                }
                {
                    key.touch();
                    Ok(a)
                }
            }
        },
        (
            ::tracecast::__private::Tag::<Result<u8, StoreError>>::ERRORS,
            ::tracecast::__private::Tag::<Result<u8, StoreError>>::TYPES,
            ::tracecast::__private::Unwanted,
        ),
    )
}
