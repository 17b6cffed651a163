//! The disk of a daemon: a directory with a file for each artifact, read in batches.

use std::io::{self, SeekFrom};
use std::path::PathBuf;

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tracecast::prelude::*;

use super::error::StoreError;
use super::keys;
use super::messages::Batch;

/// The size of a batch.
pub(crate) const BATCH_BYTES: u64 = 1 << 20;

#[derive(Clone)]
pub(crate) struct Disk {
    folder: PathBuf,
}

#[tc_span(component = "StoreEngine")]
impl Disk {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Disk { folder: folder.into() }
    }

    /// Writes an artifact of `batches` batches, as a training run would.
    pub(crate) async fn fill(&self, artifact: &str, batches: u64) -> io::Result<()> {
        tokio::fs::create_dir_all(&self.folder).await?;
        let size = (batches * BATCH_BYTES) as usize;
        let mut bytes = artifact.repeat(size / artifact.len() + 1).into_bytes();
        bytes.truncate(size);
        tokio::fs::write(self.folder.join(artifact), bytes).await
    }

    /// Reads a batch and its checksum. One span per megabyte is cheap; a span in a tight loop would not be.
    #[tc_span(attrs(keys::artifact = artifact, keys::batch = number, keys::location = keys::Location::Cpu),
              result(keys::size_bytes = |batch| batch.bytes.len()))]
    pub(crate) async fn read_batch(&self, artifact: &str, number: u64) -> Result<Batch, StoreError> {
        let bytes = self.read(artifact, number).await.map_err(StoreError::Disk)?;
        Ok(Batch { number, checksum: checksum(&bytes), bytes })
    }

    async fn read(&self, artifact: &str, number: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.folder.join(artifact)).await?;
        file.seek(SeekFrom::Start(number * BATCH_BYTES)).await?;
        let mut bytes = Vec::new();
        file.take(BATCH_BYTES).read_to_end(&mut bytes).await?;
        Ok(bytes)
    }
}

pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum: u32, byte| sum.rotate_left(5) ^ u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_makes_another_checksum() {
        assert_ne!(checksum(b"weights"), checksum(b"weightr"));
    }
}
