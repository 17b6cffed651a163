//! The directory: made if need be, checked, synced; and how files in it are opened.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::SpoolError;

/// What an error tells to do.
const NEEDED: &str =
    "a spool needs a directory of its own that this process can read and write, on a file system with locks (flock)";

/// Makes the directory, for this user alone. One that is there is not changed; it must not be open to others' writing.
pub(super) fn prepare(directory: &Path) -> Result<(), SpoolError> {
    let metadata =
        make(directory).and_then(|()| fs::metadata(directory)).map_err(|cause| unusable(directory, &cause))?;
    let Some(mode) = open_to_others(&metadata) else { return Ok(()) };
    let text = format!(
        "others can write to it (mode {mode:04o}); name a directory inside of it, which is then made for this user alone, \
         or change its mode to 0700"
    );
    Err(SpoolError { directory: directory.to_owned(), text })
}

/// Why a directory cannot be read, written to or locked in.
pub(super) fn unusable(directory: &Path, cause: &io::Error) -> SpoolError {
    SpoolError { directory: directory.to_owned(), text: format!("{cause}; {NEEDED}") }
}

/// Makes the directory and those above it, where they are missing.
pub(super) fn make(directory: &Path) -> io::Result<()> {
    let missing = directory.ancestors().take_while(|each| !each.exists()).count();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    // Or what was made would be lost with all that is in it. That it cannot be done is no reason to do without a spool.
    directory.ancestors().skip(1).take(missing).for_each(|above| drop(sync(above)));
    Ok(())
}

#[cfg(unix)]
fn open_to_others(metadata: &fs::Metadata) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
    (mode & 0o022 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn open_to_others(_: &fs::Metadata) -> Option<u32> {
    None
}

/// Has names survive the machine, not only contents. Elsewhere than on Unix the system does not offer it.
pub(super) fn sync(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// A new file, for this user alone.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A file that is there. For writing too: what cannot be marked as sent must not be sent, and some file systems lock
/// only what is open for writing.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // Neither follows a link nor waits for the other end of a pipe.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}
