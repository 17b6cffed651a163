//! The errors of a store.

use std::fmt;

use tonic::{Code, Status};
use tracecast::TcError;

/// An error of a store. Its variants are the values of `error.type`, on spans and on metrics.
#[derive(Debug, TcError)]
pub(crate) enum StoreError {
    NotFound { what: String },
    Disk(std::io::Error),
    ChecksumMismatch { batch: u64 },
    PoolFull { device: u32 },
    PeerGone,
    Upstream(Status),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::NotFound { what } => write!(f, "no daemon has an artifact `{what}`"),
            StoreError::Disk(error) => write!(f, "the disk: {error}"),
            StoreError::ChecksumMismatch { batch } => write!(f, "batch {batch} does not match its checksum"),
            StoreError::PoolFull { device } => write!(f, "no memory left on device {device}"),
            StoreError::PeerGone => f.write_str("the peer closed the connection"),
            StoreError::Upstream(status) => write!(f, "{}: {}", status.code().description(), status.message()),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<Status> for StoreError {
    fn from(status: Status) -> Self {
        StoreError::Upstream(status)
    }
}

impl From<StoreError> for Status {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Upstream(status) => return status,
            StoreError::NotFound { .. } => Code::NotFound,
            StoreError::Disk(_) => Code::Internal,
            StoreError::ChecksumMismatch { .. } => Code::DataLoss,
            StoreError::PoolFull { .. } => Code::ResourceExhausted,
            StoreError::PeerGone => Code::Unavailable,
        };
        Status::new(code, error.to_string())
    }
}
