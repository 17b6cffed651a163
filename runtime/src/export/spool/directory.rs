//! The directory: made if need be, checked, synced; and how files in it are opened.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::{SpoolError, owner};

/// What an error tells to do.
const NEEDED: &str =
    "a spool needs a directory of its own that this process can read and write, on a file system with locks (flock)";

/// Makes the directory, for this user alone, and returns the one to use. Inside of one that others can write to, or that
/// another user owns, that is a directory of this user's own. One that is there is not changed.
pub(super) fn prepare(named: &Path) -> Result<PathBuf, SpoolError> {
    if let Some(fault) = owner::fault_of_links(named) {
        return Err(refused(named, &fault));
    }
    // Without links: from now on, a link in its place is a fault.
    let found = make(named).and_then(|()| named.canonicalize()).map_err(|cause| unusable(named, &cause))?;
    if fault(&found).map_err(|cause| unusable(named, &cause))?.is_none() {
        return Ok(found);
    }
    let own = found.join(owner::directory_name());
    // Whoever can write to the directory around it may have made it, or a link in its place.
    match make(&own).and_then(|()| fault(&own)).map_err(|cause| unusable(&own, &cause))? {
        None => Ok(own),
        Some(fault) => Err(refused(&own, &fault)),
    }
}

/// Checks a directory that `prepare` returned once more, and makes it again if it has vanished. Whoever can write to the
/// directory around it may have replaced it.
pub(super) fn check_again(directory: &Path) -> io::Result<()> {
    let fault = match (owner::fault_of_links(directory), fault(directory)) {
        (Some(fault), _) => Ok(Some(fault)),
        (None, Err(cause)) if cause.kind() == ErrorKind::NotFound => make(directory).and_then(|()| fault(directory)),
        (None, found) => found,
    };
    fault?.map_or(Ok(()), |fault| Err(io::Error::new(ErrorKind::PermissionDenied, fault)))
}

/// Why a directory is not this user's alone.
fn fault(directory: &Path) -> io::Result<Option<String>> {
    Ok(owner::fault(&directory.symlink_metadata()?))
}

fn refused(directory: &Path, fault: &str) -> SpoolError {
    let text =
        format!("{fault}; name a directory that only the user of this process can write to, as one of mode 0700");
    SpoolError { directory: directory.to_owned(), text }
}

/// Why a directory cannot be read, written to or locked in.
pub(super) fn unusable(directory: &Path, cause: &io::Error) -> SpoolError {
    SpoolError { directory: directory.to_owned(), text: format!("{cause}; {NEEDED}") }
}

/// Makes the directory and those above it, where they are missing.
fn make(directory: &Path) -> io::Result<()> {
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
    let metadata = file.metadata()?;
    if metadata.is_file() && owner::is_own(&metadata) { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}
