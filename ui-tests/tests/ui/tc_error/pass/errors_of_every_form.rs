//! Generic enums, fields of all kinds, structs, an enum without variants, and errors nobody derived anything for.

use std::fmt;

use tracecast::{TcError, tc_span};

#[derive(Debug, TcError)]
#[tc_error(rename_all = "snake_case")]
enum StoreError<T: fmt::Debug>
where
    T: Send,
{
    NotFound(T),
    #[tc_error(rename = "io")]
    Disk {
        path: &'static str,
    },
    Closed,
}

#[derive(TcError)]
struct Failed;

#[derive(TcError)]
enum Never {}

#[tc_span("StoreDaemon/Load")]
fn load(id: u64) -> Result<(), StoreError<u64>> {
    match id {
        0 => Err(StoreError::Closed),
        1 => Err(StoreError::Disk { path: "/" }),
        id => Err(StoreError::NotFound(id)),
    }
}

#[tc_span("StoreDaemon/Check")]
fn check() -> Result<(), Box<dyn std::error::Error>> {
    Ok(())
}

pub(crate) fn main() {
    assert_eq!(load(2).unwrap_err().error_type(), "not_found");
    assert_eq!(StoreError::<u64>::TYPES, ["not_found", "io", "closed"]);
    assert_eq!((Failed::TYPES, Never::TYPES.len()), (&["Failed"][..], 0));
    assert!(check().is_ok());
}
