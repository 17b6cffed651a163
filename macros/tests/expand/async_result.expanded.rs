/// Loads.
#[inline]
pub fn load<T>(
    &self,
    request: Request<T>,
    session: &str,
    cause: Context,
) -> impl ::core::future::Future<Output = Result<Replica, StoreError>>
where
    T: Send,
{
    type __TcAttr0 = keys::artifact;
    type __TcShare0 = keys::session;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Load\nstore\n1.2.3", 10u16).keys(& (& [<
        __TcAttr0 as ::tracecast::__private::Key > ::META, < __TcShare0 as
        ::tracecast::__private::Key > ::META] as & [_]));
    }
    use ::tracecast::__private::Otherwise as _;
    ::tracecast::__private::Instrumented::wrap(
        ::tracecast::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| {
                __tc_begin
                    .span(|__tc_start| {
                        __tc_start.attr::<__TcAttr0>(&request.artifact);
                        __tc_start.share::<__TcShare0>(session);
                        __tc_start.link(cause);
                    })
            },
        ),
        async move {
            {
                let request = request;
                let _ = &request;
                let session = session;
                let _ = &session;
                let cause = cause;
                let _ = &cause;
                if false {
                    return ::tracecast::__private::Tag::<
                        Result<Replica, StoreError>,
                    >::unreachable();
                }
                self.fetch(request).await
            }
        },
        (
            ::tracecast::__private::Tag::<Result<Replica, StoreError>>::ERRORS,
            ::tracecast::__private::Tag::<Result<Replica, StoreError>>::TYPES,
            ::tracecast::__private::Tag::<Result<Replica, StoreError>>::MESSAGES,
        ),
    )
}
