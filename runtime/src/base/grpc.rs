//! The names of gRPC's status codes.

/// The names in the order of the codes, as the specification spells them.
pub(crate) const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Returns the name of a code; `UNKNOWN` for a code that is not in the specification.
pub(crate) fn name_of(code: u32) -> &'static str {
    CODES.get(code as usize).copied().unwrap_or("UNKNOWN")
}
