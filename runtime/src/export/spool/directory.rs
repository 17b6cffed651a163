//! Creates, checks and syncs the directory, and opens files in it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::{SpoolError, owner};

/// The requirements, as part of an error.
const NEEDED: &str =
    "a spool needs a directory of its own that this process can read and write, on a file system with locks (flock)";

/// Creates the directory, accessible to this user only, and returns the one to use. If another user owns the directory
/// or can write to it, returns a subdirectory that belongs to this user only. An existing directory is not changed.
pub(super) fn prepare(named: &Path) -> Result<PathBuf, SpoolError> {
    if let Some(fault) = owner::fault_of_links(named) {
        return Err(refused(named, &fault));
    }
    // The path without links: a link that replaces it later is an error.
    let found = make(named).and_then(|()| named.canonicalize()).map_err(|cause| unusable(named, &cause))?;
    if fault(&found).map_err(|cause| unusable(named, &cause))?.is_none() {
        return Ok(found);
    }
    let own = found.join(owner::directory_name());
    // Other users of the outer directory may have created it, or a link in its place.
    match make(&own).and_then(|()| fault(&own)).map_err(|cause| unusable(&own, &cause))? {
        None => Ok(own),
        Some(fault) => Err(refused(&own, &fault)),
    }
}

/// Checks again a directory that `prepare` returned, because other users of the outer directory may have replaced it.
/// Creates it again if it is gone.
pub(super) fn check_again(directory: &Path) -> io::Result<()> {
    let fault = match (owner::fault_of_links(directory), fault(directory)) {
        (Some(fault), _) => Ok(Some(fault)),
        (None, Err(cause)) if cause.kind() == ErrorKind::NotFound => make(directory).and_then(|()| fault(directory)),
        (None, found) => found,
    };
    fault?.map_or(Ok(()), |fault| Err(io::Error::new(ErrorKind::PermissionDenied, fault)))
}

/// Returns the reason why a directory is not exclusive to this user; `None` if it is exclusive.
fn fault(directory: &Path) -> io::Result<Option<String>> {
    Ok(owner::fault(&directory.symlink_metadata()?))
}

fn refused(directory: &Path, fault: &str) -> SpoolError {
    let text = format!("{fault}; set a directory that only the user of this process can write to (mode 0700)");
    SpoolError { directory: directory.to_owned(), text }
}

/// The error of a directory that cannot be read, written to, or used with locks.
pub(super) fn unusable(directory: &Path, cause: &io::Error) -> SpoolError {
    SpoolError { directory: directory.to_owned(), text: format!("{cause}; {NEEDED}") }
}

/// Creates the directory and its missing parents.
fn make(directory: &Path) -> io::Result<()> {
    let missing = directory.ancestors().take_while(|each| !each.exists()).count();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    // Otherwise a power loss could remove the new directories and their files. A failure does not disable the spool.
    directory.ancestors().skip(1).take(missing).for_each(|above| drop(sync(above)));
    Ok(())
}

/// Syncs the directory, so that the names of its files survive a power loss, and not only their contents. Does nothing
/// on systems other than Unix, which cannot sync directories.
pub(super) fn sync(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// Creates a file, accessible to this user only.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens an existing file, also for writing: a file that cannot be marked as sent must not be sent, and some file
/// systems lock only files that are open for writing.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // Does not follow a link, and does not wait for the other end of a pipe.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && owner::is_own(&metadata) { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}
