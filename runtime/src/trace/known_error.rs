//! Errors of other crates of which more than the type's name is known: a code, a kind, or the chain of causes.

use std::error::Error;
use std::fmt;
use std::io;

#[cfg(feature = "tonic")]
use crate::base::grpc;
use crate::trace::error::TcError;

/// An error with a known `error.type`: it implements [`TcError`], or is one of the supported errors of other crates. The types
/// of the latter are not a closed set, so no metric is labelled with them.
pub trait KnownError {
    /// Returns the value of `error.type`.
    fn known_type(&self) -> &'static str;

    /// Returns the value of `error.message`; `None` if the error's `Display` is used instead, where there is one.
    fn message(&self) -> Option<impl fmt::Display>;
}

impl<E: TcError> KnownError for E {
    #[inline]
    fn known_type(&self) -> &'static str {
        self.error_type()
    }

    #[inline]
    fn message(&self) -> Option<impl fmt::Display> {
        None::<&str>
    }
}

impl KnownError for io::Error {
    fn known_type(&self) -> &'static str {
        kind_name(self.kind())
    }

    fn message(&self) -> Option<impl fmt::Display> {
        Some(self)
    }
}

macro_rules! boxed {
    ($($($auto:ident)*),+) => {$(
        impl KnownError for Box<dyn Error $(+ $auto)*> {
            fn known_type(&self) -> &'static str {
                type_of_chain(&**self).unwrap_or("Box<dyn Error>")
            }

            fn message(&self) -> Option<impl fmt::Display> {
                Some(Chain(&**self))
            }
        }
    )+};
}

boxed!(, Send, Send Sync);

#[cfg(feature = "anyhow")]
impl KnownError for anyhow::Error {
    fn known_type(&self) -> &'static str {
        let error: &(dyn Error + Send + Sync + 'static) = self.as_ref();
        type_of_chain(error).unwrap_or("anyhow::Error")
    }

    fn message(&self) -> Option<impl fmt::Display> {
        let error: &(dyn Error + Send + Sync + 'static) = self.as_ref();
        Some(Chain(error))
    }
}

/// Error responses of axum: a status with a body.
#[cfg(feature = "http")]
impl<T> KnownError for (http::StatusCode, T) {
    fn known_type(&self) -> &'static str {
        status_text(self.0.as_u16())
    }

    fn message(&self) -> Option<impl fmt::Display> {
        Some(self.0)
    }
}

/// The status codes of gRPC are a closed set.
#[cfg(feature = "tonic")]
impl TcError for tonic::Status {
    const TYPES: &'static [&'static str] = &grpc::CODES;

    fn error_type(&self) -> &'static str {
        grpc::name_of(self.code() as u32)
    }
}

/// The messages of an error and its causes. A chain that is too long for `error.message` is cut before the root cause.
struct Chain<'a>(&'a (dyn Error + 'static));

/// The maximum length of a message in bytes (`error::MESSAGE_BYTES`).
const MOST: usize = 256;

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, mut root) = (String::new(), String::new());
        let mut next = Some(self.0);
        while let Some(error) = next {
            root = error.to_string();
            // Some errors include their cause in their own message.
            if !text.ends_with(&root) {
                text.push_str(if text.is_empty() { "" } else { ": " });
                text.push_str(&root);
            }
            next = error.source();
        }
        if text.len() <= MOST || root.len() == text.len() {
            return f.write_str(&text);
        }
        let root = crate::declare::value::cut(&root, MOST / 2);
        let kept = crate::declare::value::cut(&text, MOST - root.len() - "...: ".len());
        write!(f, "{kept}...: {root}")
    }
}

/// Returns the type of an error or one of its causes: that of the outermost gRPC status, otherwise that of the innermost
/// `io::Error`, which is the most specific. Returns `None` if the chain contains neither.
fn type_of_chain(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    let mut found = None;
    while let Some(cause) = next {
        #[cfg(feature = "tonic")]
        if let Some(status) = cause.downcast_ref::<tonic::Status>() {
            return Some(status.error_type());
        }
        found = cause.downcast_ref::<io::Error>().map(|error| kind_name(error.kind())).or(found);
        next = cause.source();
    }
    found
}

macro_rules! kinds {
    ($($kind:ident)+) => {
        /// Returns the name of a kind of `io::Error`.
        fn kind_name(kind: io::ErrorKind) -> &'static str {
            match kind {
                $(io::ErrorKind::$kind => concat!("io::", stringify!($kind)),)+
                _ => "io::Uncategorized",
            }
        }
    };
}

kinds! {
    NotFound PermissionDenied ConnectionRefused ConnectionReset HostUnreachable NetworkUnreachable ConnectionAborted NotConnected
    AddrInUse AddrNotAvailable NetworkDown BrokenPipe AlreadyExists WouldBlock NotADirectory IsADirectory DirectoryNotEmpty
    ReadOnlyFilesystem StaleNetworkFileHandle InvalidInput InvalidData TimedOut WriteZero StorageFull NotSeekable QuotaExceeded
    FileTooLarge ResourceBusy ExecutableFileBusy Deadlock CrossesDevices TooManyLinks InvalidFilename ArgumentListTooLong
    Interrupted Unsupported UnexpectedEof OutOfMemory Other
}

/// Returns the three digits of a status as a slice of a constant, without an allocation; `_OTHER` for a status above 999.
#[cfg(feature = "http")]
fn status_text(status: u16) -> &'static str {
    const FIRST: usize = 100;
    const DIGITS: [u8; 900 * 3] = {
        let (mut digits, mut at) = ([0; 900 * 3], 0);
        while at < 900 {
            let status = at + FIRST;
            digits[at * 3] = b'0' + (status / 100) as u8;
            digits[at * 3 + 1] = b'0' + (status / 10 % 10) as u8;
            digits[at * 3 + 2] = b'0' + (status % 10) as u8;
            at += 1;
        }
        digits
    };
    static TEXT: [u8; 900 * 3] = DIGITS;
    let start = usize::from(status).saturating_sub(FIRST) * 3;
    TEXT.get(start..start + 3).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("_OTHER")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Failed(String, Option<Box<dyn Error + Send + Sync>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|source| source as &(dyn Error + 'static))
        }
    }

    fn failed(text: &str, source: impl Error + Send + Sync + 'static) -> Box<dyn Error + Send + Sync> {
        Box::new(Failed(text.to_owned(), Some(Box::new(source))))
    }

    #[test]
    fn a_chain_has_all_messages_once() {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "gone");
        let error = failed("load failed", Failed("read failed".into(), Some(Box::new(gone()))));
        assert_eq!(error.message().expect("one of its own").to_string(), "load failed: read failed: gone");
        assert_eq!(error.known_type(), "io::NotFound");
        let error = failed("read failed: gone", gone());
        assert_eq!(error.message().expect("one of its own").to_string(), "read failed: gone");
        let error: Box<dyn Error> = gone().into();
        assert_eq!(
            (error.message().expect("one of its own").to_string().as_str(), error.known_type()),
            ("gone", "io::NotFound")
        );
        let error: Box<dyn Error> = "bad".into();
        assert_eq!(
            (error.message().expect("one of its own").to_string().as_str(), error.known_type()),
            ("bad", "Box<dyn Error>")
        );
    }

    #[test]
    fn a_long_chain_keeps_its_root() {
        let error = failed(&"x".repeat(400), Failed("the root".into(), None));
        let message = error.message().expect("one of its own").to_string();
        assert!(message.len() <= MOST && message.starts_with("xxx") && message.ends_with("...: the root"), "{message}");
        let error = failed(&"x".repeat(400), Failed("y".repeat(400), None));
        let message = error.message().expect("one of its own").to_string();
        assert!(message.len() == MOST && message.ends_with(&format!("...: {}", "y".repeat(128))), "{message}");
    }

    #[cfg(feature = "http")]
    #[test]
    fn statuses_are_their_number() {
        for (status, text) in [(100, "100"), (404, "404"), (599, "599"), (999, "999"), (99, "100"), (1000, "_OTHER")] {
            assert_eq!(status_text(status), text);
        }
    }
}
