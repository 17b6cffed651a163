//! The script: lines of `key = value`, read again at each call.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The settings of the script at its last reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    text: String,
    values: BTreeMap<String, String>,
}

impl Script {
    /// Reads the script.
    pub(crate) fn now() -> Self {
        static LAST: Mutex<Option<Script>> = Mutex::new(None);
        let text = text();
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(script) if script.text == text => script.clone(),
            _ => last.insert(Script::parse(text)).clone(),
        }
    }

    fn parse(text: String) -> Self {
        let lines = text.split(['\n', ';']).map(|line| line.split('#').next().unwrap_or_default());
        let pairs = lines.filter_map(|line| line.split_once('='));
        let values = pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect();
        Script { text, values }
    }

    /// Returns the text after `key`.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Returns the number after `key`.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.text(key)?.parse().ok()
    }

    /// Returns the code with which a library-wide function fails.
    pub(crate) fn failure(&self, function: &str) -> Option<u32> {
        self.number(&format!("fail.{function}")).map(|code| code as u32)
    }

    pub(crate) fn gpus(&self) -> u32 {
        self.number("gpus").map_or(2, |gpus| gpus as u32)
    }

    pub(crate) fn generation(&self) -> u32 {
        self.number("generation").map_or(1, |generation| generation as u32)
    }

    pub(crate) fn driver(&self) -> &str {
        self.text("driver").unwrap_or("580.95.05")
    }
}

fn text() -> String {
    let file = file().and_then(|path| std::fs::read_to_string(path).ok());
    file.or_else(|| std::env::var("TC_FAKE_NVML").ok()).unwrap_or_default()
}

/// Returns the path of the script beside the library that contains this code.
fn file() -> Option<&'static PathBuf> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    FILE.get_or_init(|| {
        let mut path = library()?.into_os_string();
        path.push(".script");
        Some(PathBuf::from(path))
    })
    .as_ref()
}

/// Returns the path of the library that contains this code.
fn library() -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is that of a function, and `info` outlives the call, which only writes to it.
    let found = unsafe { libc::dladdr(library as fn() -> Option<PathBuf> as *const libc::c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: `dladdr` succeeded, so this is the linker's own text, which lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_semicolons_both_end_a_setting() {
        let script = Script::parse("gpus = 4 ; gpu1.fail=15\n# nothing\nfail.nvmlInit_v2 = 18 # mismatch".to_owned());
        assert_eq!(script.gpus(), 4);
        assert_eq!(script.number("gpu1.fail"), Some(15.0));
        assert_eq!(script.failure("nvmlInit_v2"), Some(18));
        assert_eq!(script.failure("nvmlShutdown"), None);
    }
}
