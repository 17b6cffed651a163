//! Exponential buckets: eight per power of two, at fixed positions, so that the bucket follows from the bits of a value.
//!
//! A row covers 64 powers of two. An exported exponential histogram has fewer buckets, and a scale. A collection chooses the
//! scale: it joins neighbouring buckets until few enough are left.

/// Each power of two has `2^SCALE` buckets.
pub(crate) const SCALE: i32 = 3;
const PER_OCTAVE: usize = 1 << SCALE;
const OCTAVES: usize = 64;
/// The first bucket counts values that are zero or too small to distinguish from zero.
pub(crate) const BUCKETS: usize = 1 + OCTAVES * PER_OCTAVE;

/// The upper bounds of the first seven buckets of a power of two, `2^(i/8)`, as mantissa bits. The eighth bucket ends at the next
/// power of two, so no mantissa reaches its entry.
///
/// The bound of bucket `i` lies in the `i`-th eighth of the mantissas. So the first three bits of a mantissa determine
/// the bound to compare it with.
const STEPS: [u64; PER_OCTAVE] = [
    0x0001_72b8_3c7d_517b,
    0x0003_06fe_0a31_b715,
    0x0004_bfda_d536_2a27,
    0x0006_a09e_667f_3bcd,
    0x0008_ace5_422a_a0db,
    0x000a_e89f_995a_d3ad,
    0x000d_5818_dcfb_a487,
    u64::MAX,
];
const MANTISSA_BITS: u32 = 52;

/// Returns the exponent of the power of two at which the 64 powers of a row begin. Values up to this power count as zero, and
/// values above the last bucket count in that bucket. Whole numbers and bytes begin at 1/2, because 1 is their smallest value.
pub(crate) const fn first_exponent(whole: bool, unit: &str) -> i32 {
    match unit.as_bytes() {
        _ if whole => -1,
        b"By" => -1,
        b"s" | b"1" => -32,
        _ => -20,
    }
}

/// Returns the bucket of a value that is not negative: `base^index < value <= base^(index + 1)`, counted from the first
/// exponent.
#[inline(always)]
pub(crate) fn bucket(value: f64, first_exponent: i32) -> usize {
    // A bucket includes its upper bound, but the bits of that bound belong to the next bucket. So the bits of the next smaller
    // number are used, which always belong to the bucket of the value.
    let bits = value.to_bits().saturating_sub(1);
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    // The exponent and the first three bits of the mantissa give the index of the bucket, or the index before it.
    let eighth = bits >> (MANTISSA_BITS - SCALE as u32);
    let index = eighth as i32 + i32::from(mantissa >= STEPS[eighth as usize % PER_OCTAVE]);
    let first = (1023 + first_exponent) * PER_OCTAVE as i32;
    (index + 1 - first).clamp(0, BUCKETS as i32 - 1) as usize
}

/// The exported buckets, at a scale that limits their number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) scale: i32,
    pub(crate) offset: i32,
    pub(crate) counts: Vec<u64>,
}

/// Joins neighbouring buckets until at most `most` are left from the first used one to the last used one.
pub(crate) fn scaled(counts: &[u64], first_exponent: i32, most: usize) -> Scaled {
    let start = first_exponent * PER_OCTAVE as i32;
    let used = |at: &usize| counts[*at] != 0;
    let (first, last) = ((0..counts.len()).find(used), (0..counts.len()).rfind(used));
    let (Some(first), Some(last)) = (first, last) else {
        return Scaled { scale: SCALE, offset: 0, counts: Vec::new() };
    };
    let (mut low, mut high, mut scale) = (start + first as i32, start + last as i32, SCALE);
    while (high - low) as usize >= most {
        (low, high, scale) = (low >> 1, high >> 1, scale - 1);
    }
    let mut joined = vec![0; (high - low + 1) as usize];
    for (at, count) in counts.iter().enumerate().skip(first).take(last - first + 1) {
        joined[(((start + at as i32) >> (SCALE - scale)) - low) as usize] += count;
    }
    Scaled { scale, offset: low, counts: joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of a bucket, exclusive below and inclusive above.
    fn bounds(bucket: usize, first_exponent: i32) -> (f64, f64) {
        let index = first_exponent * 8 + bucket as i32 - 1;
        (2_f64.powf(f64::from(index) / 8.0), 2_f64.powf(f64::from(index + 1) / 8.0))
    }

    #[test]
    fn steps_are_powers_of_the_base() {
        for (at, step) in STEPS.iter().enumerate().take(PER_OCTAVE - 1) {
            assert_eq!(*step >> (MANTISSA_BITS - SCALE as u32), at as u64, "it is in its eighth");
            let exact = 2_f64.powf((at + 1) as f64 / 8.0);
            // Miri's powers are inexact on purpose.
            let tolerance = if cfg!(miri) { 1e-14 } else { 0.0 };
            assert!((f64::from_bits(*step | 1023 << MANTISSA_BITS) - exact).abs() <= tolerance, "step {at}");
        }
    }

    #[test]
    fn every_value_lies_in_its_bucket() {
        let mut value = 1.1e-9;
        while value < 4e9 {
            let (low, high) = bounds(bucket(value, -32), -32);
            assert!(low < value && value <= high, "{value} is not in ({low}, {high}]");
            value *= 1.037;
        }
    }

    #[test]
    fn bounds_belong_to_the_bucket_below() {
        assert_eq!(bucket(1.0, -32), 32 * 8);
        assert_eq!(bucket(2.0, -32), 33 * 8);
        assert_eq!(bucket(1.000_001, -32), 32 * 8 + 1);
        assert_eq!((bucket(1.0, -1), bucket(2.0, -1), bucket(3.0, -1)), (8, 16, 21));
    }

    #[test]
    fn the_ends() {
        assert_eq!((bucket(0.0, -32), bucket(1e-300, -32), bucket(f64::MAX, -32)), (0, 0, BUCKETS - 1));
        let first = 1.0 / (1_u64 << 32) as f64;
        assert_eq!((bucket(first, -32), bucket(2.0 * first, -32)), (0, 8));
        assert_eq!((bucket((u64::MAX >> 1) as f64, -1), bucket(0.0, -1)), (BUCKETS - 1, 0));
    }

    #[test]
    fn neighbours_are_joined_until_they_fit() {
        let mut counts = vec![0; BUCKETS - 1];
        assert_eq!(scaled(&counts, -32, 160), Scaled { scale: 3, offset: 0, counts: vec![] });
        counts[256] = 5;
        counts[258] = 2;
        assert_eq!(scaled(&counts, -32, 160), Scaled { scale: 3, offset: 0, counts: vec![5, 0, 2] });
        counts[511] = 1;
        let joined = scaled(&counts, -32, 160);
        assert_eq!((joined.scale, joined.offset, joined.counts.len()), (2, 0, 128));
        assert_eq!((joined.counts[0], joined.counts[1], joined.counts[127]), (5, 2, 1));
        counts[0] = 7;
        let joined = scaled(&counts, -32, 160);
        assert!(joined.counts.len() <= 160 && joined.counts.iter().sum::<u64>() == 15, "{joined:?}");
        assert_eq!((joined.scale, joined.offset), (1, -64));
    }
}
