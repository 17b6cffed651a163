//! Lists: attribute values that consist of several texts, numbers or flags.
//!
//! Only this module defines element types, so reading a list never runs user code.

use std::borrow::Cow;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use crate::declare::key::ValueType;

/// A borrowed list of texts, numbers or flags. [`IntoValue`](crate::IntoValue) converts slices, arrays and vectors to lists.
///
/// ```
/// use tracecast::{IntoValue, Value};
///
/// let text = IntoValue::<[i64]>::with_value(&[1, -2], |value| format!("{value:?}"));
/// assert_eq!(text, "Array([1, -2])");
/// ```
#[derive(Clone, Copy)]
pub struct Array<'a>(Source<'a>);

#[derive(Clone, Copy)]
enum Source<'a> {
    Given(&'a (dyn Elements + 'a)),
    Packed { of: ValueType, bytes: &'a [u8] },
}

/// An element of a list. Numbers are signed, as in OTLP, unless they exceed `i64::MAX`.
#[derive(Clone, Copy, PartialEq)]
pub enum Element<'a> {
    /// Text.
    Str(&'a str),
    /// An integer.
    I64(i64),
    /// An integer above `i64::MAX`.
    U64(u64),
    /// A floating-point number.
    F64(f64),
    /// A flag.
    Bool(bool),
}

impl Element<'_> {
    /// Returns true for an integer above `i64::MAX`.
    pub(crate) fn is_large(self) -> bool {
        matches!(self, Element::U64(_))
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Str(text) => text.fmt(f),
            Element::I64(number) => number.fmt(f),
            Element::U64(number) => number.fmt(f),
            Element::F64(number) => number.fmt(f),
            Element::Bool(flag) => flag.fmt(f),
        }
    }
}

/// Types of elements that can be recorded.
pub trait ListElement: Send + Sync {
    /// The type in OTLP.
    const TYPE: ValueType;

    /// Converts to an element.
    fn element(&self) -> Element<'_>;
}

/// Types that the elements of a list under a key of type `[T]` may have.
pub trait ElementOf<T>: ListElement {}

macro_rules! elements {
    ($type:ident: $(($($life:lifetime)?) $source:ty),+ => |$value:ident| $element:expr) => {$(
        impl $(<$life>)? ListElement for $source {
            const TYPE: ValueType = ValueType::$type;

            #[inline]
            fn element(&self) -> Element<'_> {
                let $value = self;
                $element
            }
        }
    )+};
}

elements!(Str: () &str, () String, () Box<str>, () Arc<str>, ('a) Cow<'a, str> => |text| Element::Str(text));
elements!(I64: () i8, () i16, () i32, () u8, () u16, () u32 => |number| Element::I64(i64::from(*number)));
elements!(I64: () i64 => |number| Element::I64(*number));
elements!(I64: () isize => |number| Element::I64(*number as i64));
elements!(I64: () u64 => |number| unsigned(*number));
elements!(I64: () usize => |number| unsigned(*number as u64));
elements!(I64: () NonZeroU32 => |number| Element::I64(number.get().into()));
elements!(I64: () NonZeroU64 => |number| unsigned(number.get()));
elements!(F64: () f32 => |number| Element::F64(f64::from(*number)));
elements!(F64: () f64 => |number| Element::F64(*number));
elements!(Bool: () bool => |flag| Element::Bool(*flag));

fn unsigned(number: u64) -> Element<'static> {
    i64::try_from(number).map_or(Element::U64(number), Element::I64)
}

macro_rules! element_of {
    ($($key:ty: $($source:ty),+;)+) => {$($(
        #[diagnostic::do_not_recommend]
        impl ElementOf<$key> for $source {}
    )+)+};
}

element_of! {
    &'static str: &str, String, Box<str>, Arc<str>, Cow<'_, str>;
    // `i32` for literals, as with single values.
    u64: u8, u16, u32, u64, usize, NonZeroU32, NonZeroU64, i32;
    i64: i8, i16, i32, i64, isize, u8, u16, u32;
    f64: f32, f64;
    bool: bool;
}

/// A list that the caller provides.
trait Elements: Send + Sync {
    fn of(&self) -> ValueType;
    fn get(&self, at: usize) -> Option<Element<'_>>;
}

impl<E: ListElement> Elements for &[E] {
    fn of(&self) -> ValueType {
        E::TYPE
    }

    fn get(&self, at: usize) -> Option<Element<'_>> {
        <[E]>::get(self, at).map(E::element)
    }
}

impl<E: ListElement> Elements for Vec<E> {
    fn of(&self) -> ValueType {
        E::TYPE
    }

    fn get(&self, at: usize) -> Option<Element<'_>> {
        <[E]>::get(self, at).map(E::element)
    }
}

impl<'a> Array<'a> {
    pub(crate) fn of_slice<E: ListElement>(elements: &'a &'a [E]) -> Self {
        Array(Source::Given(elements))
    }

    #[cfg(has_otlp)]
    pub(crate) fn of_vec<E: ListElement>(elements: &'a Vec<E>) -> Self {
        Array(Source::Given(elements))
    }

    /// Creates a list from bytes that [`Packer`] wrote.
    pub(crate) fn packed(of: ValueType, bytes: &'a [u8]) -> Self {
        Array(Source::Packed { of, bytes })
    }

    /// Returns the type of the elements: `Str`, `I64`, `F64` or `Bool`.
    pub(crate) fn of(self) -> ValueType {
        match self.0 {
            Source::Given(elements) => elements.of(),
            Source::Packed { of, .. } => of,
        }
    }

    pub(crate) fn iter(self) -> ArrayIter<'a> {
        ArrayIter { rest: self.0, at: 0 }
    }
}

impl PartialEq for Array<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.of() == other.of() && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Reads the elements of a list.
pub(crate) struct ArrayIter<'a> {
    rest: Source<'a>,
    at: usize,
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        match &mut self.rest {
            Source::Given(elements) => {
                self.at += 1;
                elements.get(self.at - 1)
            }
            Source::Packed { of, bytes } => unpack(*of, bytes),
        }
    }
}

fn unpack<'a>(of: ValueType, bytes: &mut &'a [u8]) -> Option<Element<'a>> {
    Some(match of {
        ValueType::Str => {
            let len = u32::from_ne_bytes(split(bytes)?) as usize;
            let (text, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Element::Str(str::from_utf8(text).unwrap_or_default())
        }
        ValueType::F64 => Element::F64(f64::from_ne_bytes(split(bytes)?)),
        ValueType::Bool => Element::Bool(split(bytes)? != [0]),
        _ => Element::I64(i64::from_ne_bytes(split(bytes)?)),
    })
}

fn split<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// Writes elements one after the other into a buffer: numbers as eight bytes, flags as one, texts after their lengths.
pub(crate) struct Packer<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) used: usize,
}

impl Packer<'_> {
    /// Writes an element. If the whole element does not fit, writes nothing and returns false.
    pub(crate) fn put(&mut self, element: Element<'_>) -> bool {
        match element {
            Element::Str(text) => self.push(&(text.len() as u32).to_ne_bytes(), text.as_bytes()),
            Element::I64(number) => self.push(&number.to_ne_bytes(), &[]),
            Element::U64(number) => self.push(&number.to_ne_bytes(), &[]),
            Element::F64(number) => self.push(&number.to_ne_bytes(), &[]),
            Element::Bool(flag) => self.push(&[u8::from(flag)], &[]),
        }
    }

    fn push(&mut self, head: &[u8], tail: &[u8]) -> bool {
        let (middle, end) = (self.used + head.len(), self.used + head.len() + tail.len());
        if end > self.bytes.len() {
            return false;
        }
        self.bytes[self.used..middle].copy_from_slice(head);
        self.bytes[middle..end].copy_from_slice(tail);
        self.used = end;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_elements_are_read_back() {
        fn check<E: ListElement>(given: &[E]) {
            let array = Array::of_slice(&given);
            let mut buffer = [0; 64];
            let mut packer = Packer { bytes: &mut buffer, used: 0 };
            assert!(array.iter().all(|element| packer.put(element)));
            let used = packer.used;
            assert_eq!(Array::packed(E::TYPE, &buffer[..used]), array);
        }
        check(&["", "añb", "\0"]);
        check(&[String::from("x")]);
        check(&[i64::MIN, -1, 0, i64::MAX]);
        check(&[7_usize, 9]);
        check(&[0.5_f32, f32::INFINITY]);
        check(&[true, false, true]);
        check::<u64>(&[]);
    }

    #[test]
    fn elements_that_do_not_fit_are_omitted() {
        let mut buffer = [0; 9];
        let mut packer = Packer { bytes: &mut buffer, used: 0 };
        assert!(packer.put(Element::Str("a")));
        assert!(!packer.put(Element::Str("b")));
        assert!(packer.put(Element::Bool(true)));
        assert_eq!(packer.used, 6);
    }

    #[test]
    fn a_number_above_i64_max_is_unsigned() {
        let given: &[u64] = &[1, u64::MAX];
        let elements: Vec<_> = Array::of_slice(&given).iter().collect();
        assert_eq!(elements, [Element::I64(1), Element::U64(u64::MAX)]);
    }
}
