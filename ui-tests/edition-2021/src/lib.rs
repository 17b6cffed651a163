//! A user of edition 2021 who renames the crate in `Cargo.toml` and re-exports it from a module.
//!
//! `#[tc_span]`, `#[tc_metric]` and the derives find a renamed crate by the manifest, and are told of a re-exported one with
//! `crate = path`; the other macros find the crate by themselves.

#![deny(warnings)]

use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use tc::tc_span;

pub mod metrics;

/// As a framework would hand the crate on.
pub mod framework {
    pub use tc as telemetry;
}

/// A label through the re-export.
#[derive(Clone, Copy, Debug, tc::TcLabel)]
#[tc_label(crate = crate::framework::telemetry)]
pub enum Source {
    /// A disk.
    Disk,
    /// Another node.
    Remote,
}

tc::tc_label_for! {
    /// A label of an enum of another crate.
    pub struct Order for core::cmp::Ordering { Less => "less", _ => "not_less" }
}

/// An error through the new name.
#[derive(Debug, PartialEq, Eq, tc::TcError)]
pub enum StoreError {
    /// Not there.
    Gone,
}

impl Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("gone")
    }
}

/// Keys, through both.
pub mod keys {
    tc::tc_keys! {
        /// What.
        pub id artifact: str = "test.artifact";
        /// In which order.
        pub label order: super::Order = "test.order";
    }
    crate::framework::telemetry::tc_keys! {
        /// Where from.
        pub label source: super::Source = "test.source";
    }
}

/// Through the new name.
#[tc_span("Renamed/Sync", attrs(keys::artifact = id, keys::order = 1.cmp(&2)))]
pub fn renamed(id: &str) -> Result<usize, StoreError> {
    Err(StoreError::Gone).or(Ok(id.len()))
}

/// Through the re-export.
#[crate::framework::telemetry::tc_span("Reexported/Async", crate = crate::framework::telemetry, attrs(keys::source = source))]
pub async fn reexported(source: Source) -> Result<Source, StoreError> {
    std::future::ready(()).await;
    let _scope = crate::framework::telemetry::tc_scope!("Reexported/Scope", attrs(keys::artifact = "x"));
    match source {
        Source::Disk => Err(StoreError::Gone),
        Source::Remote => Ok(source),
    }
}

/// A database, whose keys come from the crate.
#[tc_span(db(system = "sqlite", collection = table, operation = "select"))]
pub fn database(table: &str) {}

/// In edition 2021 the guard at the tail lives longer than locals do.
#[tc_span("Edition/TailTemporary")]
pub fn tail_temporary(m: &Mutex<u8>) -> u8 {
    *m.lock().unwrap()
}

/// As above; the mutex is an argument.
#[tc_span("Edition/AsyncTailTemporary")]
pub async fn async_tail_temporary(m: Mutex<u8>) -> u8 {
    *m.lock().unwrap()
}

/// Elided lifetimes.
#[tc_span("Edition/Elided", crate = tc)]
pub async fn elided(a: &str, b: &u8) -> usize {
    a.len() + usize::from(*b)
}

/// An opaque type that borrows nothing, in an edition where it would have to say otherwise.
#[tc_span("Edition/Opaque")]
pub async fn opaque(a: &str) -> impl Display {
    a.len()
}

/// One that borrows one of two.
#[tc_span("Edition/OpaqueBorrow")]
pub async fn opaque_borrow<'a>(a: &'a str, b: &u8) -> impl Display + 'a {
    let _ = b;
    a
}

/// An opaque future, whose lifetimes are those that it names.
#[tc_span("Edition/Future")]
pub fn future<'a>(a: &'a str, _b: &u8) -> impl Future<Output = usize> + 'a {
    async move { a.len() }
}

/// Never comes back.
#[tc_span("Edition/Never")]
pub async fn never() -> ! {
    panic!("on purpose")
}

/// As above.
#[tc_span("Edition/SyncNever")]
pub fn sync_never() -> ! {
    panic!("on purpose")
}

/// Has methods.
pub struct Store {
    /// Its name.
    pub name: String,
}

#[tc_span(component = "Store", methods = pub)]
impl Store {
    /// Borrows twice.
    pub async fn load(&self, id: &str) -> usize {
        self.name.len() + id.len()
    }

    /// Consumes.
    pub async fn take(self) -> usize {
        self.name.len()
    }

    /// Returns a borrow.
    pub async fn push(&mut self, text: &str) -> &mut String {
        self.name.push_str(text);
        &mut self.name
    }

    /// Returns a box.
    #[tc_span(attrs(keys::artifact = &self.name))]
    pub fn boxed(&self) -> Pin<Box<dyn Future<Output = usize> + Send + '_>> {
        Box::pin(async move { self.name.len() })
    }
}

/// Loads.
pub trait Loads {
    /// Loads.
    fn load(&self, id: &str) -> impl Future<Output = usize> + Send;
}

impl Loads for Store {
    #[tc_span("Loads/Load")]
    async fn load(&self, id: &str) -> usize {
        self.name.len() + id.len()
    }
}

/// The rules for `unsafe` are those of the edition: the body needs no block of its own.
#[allow(unsafe_op_in_unsafe_fn, reason = "as the edition has it")]
pub mod qualified {
    use tc::tc_span;

    /// Reads.
    ///
    /// # Safety
    /// The pointer must be valid.
    #[tc_span("Edition/Unsafe")]
    pub unsafe fn read(p: *const u8) -> u8 {
        *p
    }

    /// Reads later.
    ///
    /// # Safety
    /// The pointer must be valid until then.
    #[tc_span("Edition/AsyncUnsafe")]
    pub async unsafe fn read_later(p: *const u8) -> u8 {
        std::future::ready(()).await;
        *p
    }

    /// For C.
    #[tc_span("Edition/Extern")]
    pub extern "C" fn external(x: u8) -> u8 {
        x + 1
    }

    /// For C, by name.
    #[tc_span("Edition/NoMangle")]
    #[no_mangle]
    pub extern "C" fn tracecast_edition_2021_no_mangle(x: u8) -> u8 {
        x + 1
    }

    /// For some CPUs.
    ///
    /// # Safety
    /// The CPU must have the feature.
    #[cfg(target_arch = "x86_64")]
    #[tc_span("Edition/TargetFeature")]
    #[target_feature(enable = "avx2")]
    pub unsafe fn for_some_cpus(x: i32) -> i32 {
        use std::arch::x86_64::{_mm256_castsi256_si128, _mm256_set1_epi32, _mm_cvtsi128_si32};
        _mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_set1_epi32(x)))
    }
}
