//! The type of connections.

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection, plain or with TLS.
pub(super) type Stream = Box<dyn Bytes>;

pub(super) trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}
