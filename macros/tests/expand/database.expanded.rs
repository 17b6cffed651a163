fn rows(table: &str) -> Vec<Row> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("db\nstore\n1.2.3", 2u16)
        .of_kind(::tracecast::__private::Kind::Client).keys(& (& [<
        ::tracecast::keys::db::system_name as ::tracecast::__private::Key > ::META, <
        ::tracecast::keys::db::collection_name as ::tracecast::__private::Key > ::META, <
        ::tracecast::keys::db::operation_name as ::tracecast::__private::Key > ::META] as
        & [_]));
    }
    ::tracecast::__private::run_begun(
        &__TC_CALLSITE,
        move |__tc_begin| -> Vec<Row> {
            __tc_begin
                .span(|__tc_start| {
                    match ("postgresql", table, "select") {
                        (
                            __tc_system_name,
                            __tc_collection_name,
                            __tc_operation_name,
                        ) => {
                            let __tc_system_name = ::core::convert::AsRef::<
                                ::core::primitive::str,
                            >::as_ref(&__tc_system_name);
                            let __tc_collection_name = ::core::convert::AsRef::<
                                ::core::primitive::str,
                            >::as_ref(&__tc_collection_name);
                            let __tc_operation_name = ::core::convert::AsRef::<
                                ::core::primitive::str,
                            >::as_ref(&__tc_operation_name);
                            __tc_start
                                .name(
                                    ::core::format_args!(
                                        "{}.{}", __tc_collection_name, __tc_operation_name
                                    ),
                                );
                            __tc_start
                                .attr::<
                                    ::tracecast::keys::db::system_name,
                                >(__tc_system_name);
                            __tc_start
                                .attr::<
                                    ::tracecast::keys::db::collection_name,
                                >(__tc_collection_name);
                            __tc_start
                                .attr::<
                                    ::tracecast::keys::db::operation_name,
                                >(__tc_operation_name);
                        }
                    }
                });
            query(table)
        },
        (),
    )
}
