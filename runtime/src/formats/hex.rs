//! Lower-case hexadecimal numbers, many digits at a time. Reading is inlined, so that constants stay in registers.

const ONES: u64 = 0x0101_0101_0101_0101;

#[inline(always)]
pub(super) fn u64(digits: &[u8; 16]) -> Option<u64> {
    values(digits).map(|values| number(&values))
}

/// Returns the value of each digit, or `None` if a digit is invalid. The compiler vectorizes the loop.
#[inline(always)]
pub(super) fn values<const N: usize>(digits: &[u8; N]) -> Option<[u8; N]> {
    let (mut values, mut wrong) = ([0; N], false);
    for (value, digit) in values.iter_mut().zip(digits) {
        let (decimal, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        let is_letter = letter < 6;
        *value = if is_letter { letter + 10 } else { decimal };
        wrong |= !is_letter & (decimal > 9);
    }
    (!wrong).then_some(values)
}

/// Joins the values of sixteen digits to one number.
#[inline(always)]
pub(super) fn number(values: &[u8; 16]) -> u64 {
    values.as_chunks().0.iter().fold(0, |high, eight| high << 32 | u64::from(joined(u64::from_be_bytes(*eight))))
}

#[inline(always)]
fn joined(nibbles: u64) -> u32 {
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff;
    let halves = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    (halves | halves >> 16) as u32
}

pub(super) fn of_u128(number: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    digits[..16].copy_from_slice(&of_u64((number >> 64) as u64));
    digits[16..].copy_from_slice(&of_u64(number as u64));
    digits
}

pub(crate) fn of_u64(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&of_u32((number >> 32) as u32));
    digits[8..].copy_from_slice(&of_u32(number as u32));
    digits
}

fn of_u32(number: u32) -> [u8; 8] {
    let number = u64::from(number);
    let halves = (number | number << 16) & 0x0000_ffff_0000_ffff;
    let bytes = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    let nibbles = (bytes | bytes << 4) & (ONES * 0xf);
    let letters = ((nibbles + ONES * 6) >> 4) & ONES;
    (nibbles + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_in_every_place_is_a_digit_or_refused() {
        for at in 0..16 {
            for byte in 0..=u8::MAX {
                let mut digits = *b"09afc5d12e3b4687";
                digits[at] = byte;
                let plain = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                let expected = std::str::from_utf8(&digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
                assert_eq!(u64(&digits), expected.filter(|_| plain), "{byte} at {at}");
            }
        }
    }

    #[test]
    fn digits_equal_those_of_format_and_are_read_back() {
        for number in [0, 1, 9, 10, 0xff, 0x0123_4567_89ab_cdef, u64::MAX, 0xf0f0_0a0a_9999_aaaa] {
            assert_eq!(of_u64(number), format!("{number:016x}").as_bytes());
            assert_eq!(u64(&of_u64(number)), Some(number));
            let wide = u128::from(number) << 64 | u128::from(!number);
            assert_eq!(of_u128(wide), format!("{wide:032x}").as_bytes());
        }
    }
}
