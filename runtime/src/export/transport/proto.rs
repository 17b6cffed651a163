//! Parses protobuf fields: the few of responses, and those of requests that are split.

/// The value of a field. Fixed-width values are not decoded, because no caller needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// Iterates over the fields of a message, up to its end or the first invalid field.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = (u64, Value<'_>)> {
    raw_fields(message).map(|(number, value, _)| (number, value))
}

/// Iterates over the fields of a message, each with its encoded bytes, up to its end or the first invalid field.
pub(crate) fn raw_fields(message: &[u8]) -> impl Iterator<Item = (u64, Value<'_>, &[u8])> {
    let mut rest = message;
    std::iter::from_fn(move || {
        let start = rest;
        let (number, value) = field(&mut rest)?;
        Some((number, value, &start[..start.len() - rest.len()]))
    })
}

/// True if the whole message parses as fields.
pub(super) fn is_message(message: &[u8]) -> bool {
    let mut rest = message;
    while !rest.is_empty() {
        if field(&mut rest).is_none() {
            return false;
        }
    }
    true
}

/// Finds the first field with this number that holds bytes.
pub(super) fn bytes(message: &[u8], wanted: u64) -> Option<&[u8]> {
    fields(message).find_map(|(number, value)| match value {
        Value::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    })
}

/// Finds the first field with this number that holds an integer.
#[cfg(feature = "grpc")]
pub(super) fn varint(message: &[u8], wanted: u64) -> Option<u64> {
    fields(message).find_map(|(number, value)| match value {
        Value::Varint(value) if number == wanted => Some(value),
        _ => None,
    })
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = read_varint(rest)?;
    let value = match tag & 7 {
        0 => Value::Varint(read_varint(rest)?),
        1 => take(rest, 8).map(|_| Value::Fixed)?,
        2 => {
            let length = usize::try_from(read_varint(rest)?).ok()?;
            Value::Bytes(take(rest, length)?)
        }
        5 => take(rest, 4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    (tag >> 3 != 0).then_some((tag >> 3, value))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, left) = rest.split_first()?;
        *rest = left;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order() {
        let message = [0x08, 0x96, 0x01, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 2, b'h', b'i', 0x25, 1, 2, 3, 4];
        let read: Vec<_> = fields(&message).collect();
        assert_eq!(read, [(1, Value::Varint(150)), (2, Value::Fixed), (3, Value::Bytes(b"hi")), (4, Value::Fixed)]);
        assert!(is_message(&message));
    }

    #[test]
    fn a_torn_message_ends_early() {
        let check = |message: &[u8], count: usize| {
            assert_eq!(fields(message).count(), count, "{message:?}");
            assert!(!is_message(message), "{message:?}");
        };
        check(&[0x08], 0);
        check(&[0x08, 1, 0x12, 5, 1], 1);
        check(&[0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], 0);
        check(&[255; 20], 0);
        check(&[0x0b, 1], 0);
        check(&[0x00, 1], 0);
    }
}
