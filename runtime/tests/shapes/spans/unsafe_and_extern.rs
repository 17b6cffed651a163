//! Functions with qualifiers: `unsafe`, `extern`, exported names, CPU features.

use std::future::ready;

use futures::executor::block_on;
use tracecast::keys;
use tracecast::tc_span;

use crate::support::check;

#[test]
fn unsafe_functions() {
    #[tc_span("Unsafe/Sync", attrs(keys::size_bytes = 1_u8))]
    unsafe fn sync(p: *const u8) -> u8 {
        // SAFETY: the callers give a pointer to a number.
        unsafe { *p }
    }

    #[tc_span("Unsafe/Async")]
    async unsafe fn asynchronous(p: *const u8) -> u8 {
        ready(()).await;
        // SAFETY: the callers give a pointer to a number.
        unsafe { *p }
    }

    let as_pointer: unsafe fn(*const u8) -> u8 = sync;
    // SAFETY: the pointers are those of numbers.
    check(|| unsafe { sync(&1) + as_pointer(&2) }, 3, "Unsafe/Sync tc.size.bytes=1\nUnsafe/Sync tc.size.bytes=1");
    // SAFETY: as above.
    check(|| block_on(unsafe { asynchronous(&4) }), 4, "Unsafe/Async");
}

#[test]
fn unsafe_blocks() {
    #[tc_span("Unsafe/Block")]
    fn block(x: &u8) -> u8 {
        // SAFETY: it was a reference.
        unsafe { std::ptr::read(x) }
    }

    check(|| block(&1), 1, "Unsafe/Block");
}

#[test]
fn extern_functions() {
    #[tc_span("Extern/C")]
    extern "C" fn external(x: u8) -> u8 {
        x + 1
    }

    let as_pointer: extern "C" fn(u8) -> u8 = external;
    check(|| as_pointer(1), 2, "Extern/C");
}

mod exported {
    use super::*;

    #[tc_span("Extern/NoMangle")]
    #[unsafe(no_mangle)]
    pub(super) extern "C" fn tracecast_test_no_mangle(x: u8) -> u8 {
        x + 1
    }

    #[unsafe(export_name = "tracecast_test_export_name")]
    #[tc_span("Extern/ExportName")]
    pub(super) unsafe extern "C" fn export_name(x: *mut u8) {
        // SAFETY: the callers give a pointer to a number.
        unsafe { *x += 1 };
    }
}

#[test]
fn exported_functions() {
    mod imported {
        unsafe extern "C" {
            pub(super) fn tracecast_test_no_mangle(x: u8) -> u8;
            pub(super) fn tracecast_test_export_name(x: *mut u8);
        }
    }

    // Named here too, or their crate could leave them out.
    let _ = (exported::tracecast_test_no_mangle as extern "C" fn(u8) -> u8, exported::export_name as *const ());
    // SAFETY: declared as it is defined.
    check(|| unsafe { imported::tracecast_test_no_mangle(1) }, 2, "Extern/NoMangle");
    let mut number = 1;
    // SAFETY: declared as it is defined, and the pointer is that of a number.
    check(|| unsafe { imported::tracecast_test_export_name(&mut number) }, (), "Extern/ExportName");
    assert_eq!(number, 2);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_for_some_cpus() {
    use std::arch::x86_64::{_mm_cvtsi128_si32, _mm256_castsi256_si128, _mm256_set1_epi32};

    // Calls of intrinsics are safe only where their feature is on: in the body, wherever that ends up.
    #[tc_span("Cpu/Sync")]
    #[target_feature(enable = "avx2")]
    fn sync(x: i32) -> i32 {
        _mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_set1_epi32(x)))
    }

    #[target_feature(enable = "avx2")]
    #[tc_span("Cpu/Unsafe")]
    unsafe fn not_safe(x: i32) -> Result<i32, String> {
        Ok(_mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_set1_epi32(x))))
    }

    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the feature was just looked for.
        check(|| unsafe { sync(7) }, 7, "Cpu/Sync");
        // SAFETY: as above.
        check(|| unsafe { not_safe(7) }, Ok(7), "Cpu/Unsafe");
    }
}
