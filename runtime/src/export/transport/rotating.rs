//! Headers whose values change at run time: from files that are read again, and from callbacks.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use tokio::task::JoinHandle;

use super::failure::Failure;
use super::files::{Stamp, shown, stamp};
use crate::base::secret::{Masked, Secret};
use crate::config::HeaderCallback;

/// The maximum size of a file with a header's value, in bytes.
const LONGEST: u64 = 16 * 1024;

/// A header and the source of its value. The last valid value stays in use until there is a new one.
pub(super) struct Rotating {
    name: HeaderName,
    source: Source,
    value: Option<Secret>,
    /// The reason why the source's present value is not in use.
    problem: Option<String>,
}

enum Source {
    File {
        path: Masked<PathBuf>,
        /// The stamp at the last attempt to read the file; the outer `None` means that there was none.
        read: Option<Stamp>,
    },
    Callback {
        callback: HeaderCallback,
        /// The call in progress. There is at most one call, even if it hangs.
        running: Option<JoinHandle<Option<Secret>>>,
    },
}

impl Rotating {
    pub(super) fn from_file(name: HeaderName, path: Masked<PathBuf>) -> Self {
        Rotating { name, source: Source::File { path, read: None }, value: None, problem: None }
    }

    pub(super) fn from_callback(name: HeaderName, callback: HeaderCallback) -> Self {
        Rotating { name, source: Source::Callback { callback, running: None }, value: None, problem: None }
    }

    /// Reads the value now, if it comes from a file. Fails if it is not valid.
    pub(super) fn check(&mut self) -> Result<(), String> {
        if let Source::File { .. } = &self.source {
            self.read_file();
        }
        self.problem.clone().map_or(Ok(()), Err)
    }

    /// Returns the reason why the present value of the source is not in use while an earlier value is; `None` if it is
    /// in use, or if there was no valid value yet.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem
            .as_ref()
            .filter(|_| self.value.is_some())
            .map(|problem| format!("{problem}; using the previous value"))
    }

    pub(super) fn value(&self) -> Option<&Secret> {
        self.value.as_ref()
    }

    /// Takes a new value from the source, if there is one, and sets the header. Fails if there was no valid value yet.
    pub(super) async fn refresh(&mut self, headers: &mut HeaderMap) -> Result<(), Failure> {
        match &self.source {
            Source::File { .. } => self.read_file(),
            Source::Callback { .. } => self.call().await,
        }
        let missing = || Failure::Insecure(self.problem.clone().unwrap_or_default());
        let value = self.value.as_ref().and_then(sendable).ok_or_else(missing)?;
        headers.insert(self.name.clone(), value);
        Ok(())
    }

    fn read_file(&mut self) {
        let Source::File { path, read } = &mut self.source else { return };
        // Taken before reading: a file that changes meanwhile is read again.
        let now = stamp(path);
        if *read == Some(now) {
            return;
        }
        *read = Some(now);
        let content = content(path).map_err(|error| error.kind().to_string());
        let problem = |what: &str| format!("the file `{}` of header `{}` {what}", shown(path), self.name);
        let value = match content {
            Err(error) => Err(problem(&format!("cannot be read: {error}"))),
            Ok(content) if content.is_empty() => Err(problem("is empty")),
            // Credentials start with a scheme; a token without one is sent as a bearer token.
            Ok(token) if self.name == AUTHORIZATION && !token.contains(' ') => {
                Ok(Secret::new(format!("Bearer {token}")))
            }
            Ok(content) => Ok(Secret::new(content)),
        };
        self.take(value);
    }

    async fn call(&mut self) {
        let Source::Callback { callback, running } = &mut self.source else { return };
        let callback = callback.clone();
        // On a blocking thread, because it may fetch a token over the network. If the request times out first, the call
        // continues, and the next request waits for the same call.
        let call = running.get_or_insert_with(|| tokio::task::spawn_blocking(move || callback()));
        let returned = call.await;
        *running = None;
        let problem = |what: &str| format!("the callback of header `{}` {what}", self.name);
        let value = match returned {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(problem("returned no value")),
            Err(_) => Err(problem("panicked")),
        };
        self.take(value);
    }

    fn take(&mut self, value: Result<Secret, String>) {
        let sendable = value.and_then(|value| match sendable(&value) {
            Some(_) => Ok(value),
            None => {
                Err(format!("the value of header `{}` is invalid; expected text without control characters", self.name))
            }
        });
        self.problem = match sendable {
            Ok(value) => {
                self.value = Some(value);
                None
            }
            Err(problem) => Some(problem),
        };
    }
}

/// Reads the text of a file, without surrounding white space.
fn content(path: &PathBuf) -> io::Result<String> {
    let mut text = String::new();
    if File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)? as u64 > LONGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text.trim().to_owned())
}

/// Converts a value to a header value that does not print; `None` if HTTP does not allow it.
pub(super) fn sendable(secret: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(secret.reveal().trim().as_bytes()).ok()?;
    // A sensitive value does not print, and is not added to HTTP/2's compression table.
    value.set_sensitive(true);
    Some(value)
}
