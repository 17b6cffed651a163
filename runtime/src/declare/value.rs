//! Values of attributes, and the Rust types that can be recorded under a key.

use std::borrow::Cow;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Deref;
use std::sync::Arc;

use crate::base::escape;
use crate::declare::array::{Array, Element, ElementOf, ListElement};
use crate::declare::interned::{Interned, InternedKey};
use crate::declare::key::{AnyAttribute, ValueType};
use crate::declare::label::{Index, Label};

/// A borrowed value of an attribute. Creating one allocates nothing.
///
/// ```
/// use tracecast::{IntoValue, Value};
///
/// let is_absent = IntoValue::<u64>::with_value(None::<u64>, |value| value == Value::Absent);
/// assert!(is_absent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value: the attribute is omitted. `None` becomes this.
    Absent,
    /// A flag.
    Bool(bool),
    /// A signed number.
    I64(i64),
    /// An unsigned number.
    U64(u64),
    /// A floating-point number.
    F64(f64),
    /// Text that is copied into the span.
    Str(&'a str),
    /// Text with a static lifetime, which is not copied.
    Static(&'static str),
    /// The ordinal of a label's value.
    Label(usize),
    /// A list of texts, numbers or flags.
    Array(Array<'a>),
}

#[cfg(has_otlp)]
impl<'a> Value<'a> {
    /// Converts an element of a list to a single value.
    pub(crate) fn of_element(element: Element<'a>) -> Self {
        match element {
            Element::Str(text) => Value::Str(text),
            Element::I64(number) => Value::I64(number),
            Element::U64(number) => Value::U64(number),
            Element::F64(number) => Value::F64(number),
            Element::Bool(flag) => Value::Bool(flag),
        }
    }
}

/// The owned value of an attribute: of a finished span, a log record, the resource, or third-party telemetry. It prints
/// as text; a list prints as JSON.
///
/// ```
/// use tracecast::OwnedValue;
///
/// assert_eq!(OwnedValue::U64(7).to_string(), "7");
/// assert_eq!(OwnedValue::from("llama").to_string(), "llama");
/// assert_eq!(OwnedValue::StrArray(vec!["a".into(), "b".into()]).to_string(), r#"["a","b"]"#);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OwnedValue {
    /// A flag.
    Bool(bool),
    /// A signed number.
    I64(i64),
    /// An unsigned number.
    U64(u64),
    /// A floating-point number.
    F64(f64),
    /// Text, of a string or of a label.
    Str(Cow<'static, str>),
    /// A list of texts.
    StrArray(Vec<String>),
    /// A list of signed numbers.
    I64Array(Vec<i64>),
    /// A list of floating-point numbers.
    F64Array(Vec<f64>),
    /// A list of flags.
    BoolArray(Vec<bool>),
}

impl Value<'_> {
    /// Converts to an owned value. Returns `None` if the value is absent, or a label, whose text depends on the key.
    pub(crate) fn into_owned(self) -> Option<OwnedValue> {
        Some(match self {
            Value::Bool(flag) => OwnedValue::Bool(flag),
            Value::I64(number) => OwnedValue::I64(number),
            Value::U64(number) => OwnedValue::U64(number),
            Value::F64(number) => OwnedValue::F64(number),
            Value::Str(text) => OwnedValue::from(text),
            Value::Static(text) => OwnedValue::Str(Cow::Borrowed(text)),
            Value::Array(array) => owned_array(array),
            Value::Absent | Value::Label(_) => return None,
        })
    }
}

/// Converts a list. If a number is too large for a signed integer, all numbers become texts. (OTLP has only signed integers; a
/// single large number is exported as text, too.)
fn owned_array(array: Array<'_>) -> OwnedValue {
    let mut owned = match array.of() {
        ValueType::F64 => OwnedValue::F64Array(Vec::new()),
        ValueType::Bool => OwnedValue::BoolArray(Vec::new()),
        ValueType::I64 if !array.iter().any(Element::is_large) => OwnedValue::I64Array(Vec::new()),
        _ => OwnedValue::StrArray(Vec::new()),
    };
    for element in array.iter() {
        match (&mut owned, element) {
            (OwnedValue::StrArray(texts), Element::Str(text)) => texts.push(text.to_owned()),
            (OwnedValue::StrArray(texts), number) => texts.push(format!("{number:?}")),
            (OwnedValue::I64Array(numbers), Element::I64(number)) => numbers.push(number),
            (OwnedValue::F64Array(numbers), Element::F64(number)) => numbers.push(number),
            (OwnedValue::BoolArray(flags), Element::Bool(flag)) => flags.push(flag),
            // All elements have the type of the list.
            _ => {}
        }
    }
    owned
}

impl OwnedValue {
    /// Replaces each text for which `instead` returns another one.
    pub(crate) fn change_texts(&mut self, instead: impl Fn(&str) -> Option<String>) {
        match self {
            OwnedValue::Str(text) => {
                if let Some(other) = instead(text) {
                    *text = Cow::Owned(other);
                }
            }
            OwnedValue::StrArray(texts) => {
                for text in texts {
                    if let Some(other) = instead(text) {
                        *text = other;
                    }
                }
            }
            _ => {}
        }
    }

    /// Shortens a list to its first `elements` elements. Other values are unchanged.
    pub(crate) fn truncate(&mut self, elements: usize) {
        match self {
            OwnedValue::StrArray(texts) => texts.truncate(elements),
            OwnedValue::I64Array(numbers) => numbers.truncate(elements),
            OwnedValue::F64Array(numbers) => numbers.truncate(elements),
            OwnedValue::BoolArray(flags) => flags.truncate(elements),
            _ => {}
        }
    }
}

#[cfg(has_otlp)]
impl OwnedValue {
    /// Borrows the value.
    pub(crate) fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Bool(flag) => Value::Bool(*flag),
            OwnedValue::I64(number) => Value::I64(*number),
            OwnedValue::U64(number) => Value::U64(*number),
            OwnedValue::F64(number) => Value::F64(*number),
            OwnedValue::Str(text) => Value::Str(text),
            OwnedValue::StrArray(texts) => Value::Array(Array::of_vec(texts)),
            OwnedValue::I64Array(numbers) => Value::Array(Array::of_vec(numbers)),
            OwnedValue::F64Array(numbers) => Value::Array(Array::of_vec(numbers)),
            OwnedValue::BoolArray(flags) => Value::Array(Array::of_vec(flags)),
        }
    }

    /// Returns the number of bytes that the value owns on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            OwnedValue::Str(Cow::Owned(text)) => text.len(),
            OwnedValue::StrArray(texts) => texts.iter().map(|text| size_of::<String>() + text.len()).sum(),
            OwnedValue::I64Array(numbers) => size_of_val(&numbers[..]),
            OwnedValue::F64Array(numbers) => size_of_val(&numbers[..]),
            OwnedValue::BoolArray(flags) => flags.len(),
            _ => 0,
        }
    }
}

impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OwnedValue::Bool(value) => value.fmt(f),
            OwnedValue::I64(value) => value.fmt(f),
            OwnedValue::U64(value) => value.fmt(f),
            OwnedValue::F64(value) => value.fmt(f),
            OwnedValue::Str(value) => value.fmt(f),
            OwnedValue::StrArray(texts) => list(f, texts, |f, text| escape::json(f, text, char::is_control)),
            OwnedValue::I64Array(numbers) => list(f, numbers, |f, number| number.fmt(f)),
            OwnedValue::F64Array(numbers) => list(f, numbers, |f, number| match number {
                number if number.is_finite() => number.fmt(f),
                // JSON has no infinity and no NaN: both become text.
                number if number.is_nan() => f.write_str("\"NaN\""),
                number => f.write_str(if *number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" }),
            }),
            OwnedValue::BoolArray(flags) => list(f, flags, |f, flag| flag.fmt(f)),
        }
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    elements: &[T],
    element: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (at, one) in elements.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { "," })?;
        element(f, one)?;
    }
    f.write_str("]")
}

macro_rules! owned_from {
    ($($source:ty => |$value:ident| $converted:expr;)+) => {$(
        impl From<$source> for OwnedValue {
            fn from($value: $source) -> Self {
                $converted
            }
        }
    )+};
}

owned_from! {
    &str => |text| OwnedValue::Str(Cow::Owned(text.to_owned()));
    String => |text| OwnedValue::Str(Cow::Owned(text));
    i64 => |number| OwnedValue::I64(number);
    f64 => |number| OwnedValue::F64(number);
    bool => |flag| OwnedValue::Bool(flag);
}

/// Types that can be recorded under a key whose type is `T`. Programs may implement it for their own types.
///
/// ```
/// use tracecast::{IntoValue, keys};
///
/// #[tracecast::tc_span("Store/Put")]
/// fn put(bytes: impl IntoValue<u64>) {
///     tracecast::current().set(keys::size_bytes, bytes);
/// }
///
/// tracecast::testing::capture(|| put(7_u8)).assert_tree("Store/Put tc.size.bytes=7");
/// tracecast::testing::capture(|| put([0; 9].len())).assert_tree("Store/Put tc.size.bytes=9");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value for a key of type `{T}`",
    label = "the key takes `{T}`",
    note = "a `str` key takes strings, `format_args!(..)` and `tracecast::display(..)`; a `u64` key unsigned integers and literals; an `i64` key any integer that fits; an `f64` key `f64` and `f32`",
    note = "a list key, as `[i64]`, takes slices, arrays and vectors of such values",
    note = "a label key takes its own type: a closed enum with `#[derive(TcLabel)]`, or a `tc_label_for!` type"
)]
pub trait IntoValue<T: ?Sized> {
    /// Calls `f` with the value, borrowed while `f` runs.
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R;
}

macro_rules! into_value {
    ($target:ty: $($source:ty),+ => |$value:ident| $converted:expr) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoValue<$target> for $source {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                let $value = self;
                f($converted)
            }
        }
        #[diagnostic::do_not_recommend]
        impl IntoValue<$target> for &$source {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                let $value = *self;
                f($converted)
            }
        }
    )+};
}

into_value!(u64: u8, u16, u32 => |value| Value::U64(u64::from(value)));
into_value!(u64: u64 => |value| Value::U64(value));
// `i32` is the type of literals without a suffix. A negative number is recorded as a signed one.
into_value!(u64: i32 => |value| u64::try_from(value).map_or(Value::I64(value.into()), Value::U64));
into_value!(u64: usize => |value| Value::U64(value as u64));
into_value!(u64: NonZeroU32 => |value| Value::U64(u64::from(value.get())));
into_value!(u64: NonZeroU64 => |value| Value::U64(value.get()));
into_value!(i64: i8, i16, i32, u8, u16, u32 => |value| Value::I64(i64::from(value)));
into_value!(i64: i64 => |value| Value::I64(value));
into_value!(i64: isize => |value| Value::I64(value as i64));
into_value!(f64: f32 => |value| Value::F64(f64::from(value)));
into_value!(f64: f64 => |value| Value::F64(value));

macro_rules! into_text {
    ($($(#[$meta:meta])* ($($life:lifetime)?) $source:ty => |$value:ident| $text:expr;)+) => {$(
        $(#[$meta])*
        #[diagnostic::do_not_recommend]
        impl $(<$life>)? IntoValue<str> for $source {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                let $value = self;
                f(Value::Str($text))
            }
        }
    )+};
}

into_text! {
    () &str => |text| text;
    () &&str => |text| text;
    () &mut str => |text| text;
    () &&mut str => |text| text;
    () String => |text| &text;
    () &String => |text| text;
    () &mut String => |text| text;
    () &&mut String => |text| text;
    () Box<str> => |text| &text;
    () &Box<str> => |text| text;
    () Arc<str> => |text| &text;
    () &Arc<str> => |text| text;
    ('a) Cow<'a, str> => |text| &text;
    ('a) &Cow<'a, str> => |text| text;
}

/// Text with a static lifetime: recorded by reference instead of copied.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::{Static, keys};
///
/// #[tc_span("Store/Get", attrs(keys::tensor::artifact = Static("llama")))]
/// fn get() {}
///
/// tracecast::testing::capture(get).assert_tree("Store/Get tc.artifact.id=llama");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Static(pub &'static str);

#[diagnostic::do_not_recommend]
impl IntoValue<str> for Static {
    #[inline]
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        f(Value::Static(self.0))
    }
}

#[diagnostic::do_not_recommend]
impl IntoValue<str> for fmt::Arguments<'_> {
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        match self.as_str() {
            Some(text) => f(Value::Static(text)),
            None => formatted(&self, |text| f(Value::Str(text))),
        }
    }
}

/// A value recorded by its `Display` text, up to 1 KiB of it, without an allocation.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::{display, keys};
///
/// #[tc_span("Store/Get", attrs(keys::tensor::artifact = display(&number)))]
/// fn get(number: u128) {}
///
/// tracecast::testing::capture(|| get(7)).assert_tree("Store/Get tc.artifact.id=7");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Displayed<T>(T);

/// Records `value` by its `Display` text: `keys::tensor::artifact = tracecast::display(&uuid)`.
///
/// ```
/// use std::net::Ipv4Addr;
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Fetch", attrs(tracecast::keys::tensor::replica = tracecast::display(peer)))]
/// fn fetch(peer: Ipv4Addr) {}
///
/// let captured = tracecast::testing::capture(|| fetch(Ipv4Addr::LOCALHOST));
/// captured.assert_tree("Store/Fetch tc.replica.id=127.0.0.1");
/// ```
pub fn display<T: fmt::Display>(value: T) -> Displayed<T> {
    Displayed(value)
}

#[diagnostic::do_not_recommend]
impl<T: fmt::Display> IntoValue<str> for Displayed<T> {
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        formatted(&self.0, |text| f(Value::Str(text)))
    }
}

/// Records a label. Its value `none` leaves the attribute out.
#[diagnostic::do_not_recommend]
impl<L: Label> IntoValue<L> for L {
    #[inline]
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        let ordinal = self.ordinal();
        f(if L::NONE == Some(ordinal) { Value::Absent } else { Value::Label(ordinal) })
    }
}

#[diagnostic::do_not_recommend]
impl<L: Label> IntoValue<L> for &L {
    #[inline]
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        (*self).with_value(f)
    }
}

macro_rules! index_from {
    ($($int:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<const N: usize> IntoValue<Index<N>> for $int {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                f(Value::Label(Index::<N>::new(self as u64).ordinal()))
            }
        }
    )+};
}

index_from!(u8, u16, u32, u64, usize);

macro_rules! interned_from {
    ($($text:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<const N: usize, K: InternedKey> IntoValue<Interned<N, K>> for $text {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                f(Value::Label(K::ordinal(self.as_ref())))
            }
        }
    )+};
}

interned_from!(&str, String, &String);

macro_rules! optional {
    ($([$($element:ident)?] $target:ty),+) => {$(
        /// `None` leaves the attribute out.
        #[diagnostic::do_not_recommend]
        impl<$($element,)? V: IntoValue<$target>> IntoValue<$target> for Option<V> {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                match self {
                    Some(value) => value.with_value(f),
                    None => f(Value::Absent),
                }
            }
        }
        #[diagnostic::do_not_recommend]
        impl<'a, $($element,)? V> IntoValue<$target> for &'a Option<V>
        where
            &'a V: IntoValue<$target>,
        {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                self.as_ref().with_value(f)
            }
        }
    )+};
}

optional!([] str, [] u64, [] i64, [] f64, [] AnyAttribute, [T] [T]);

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, E: ElementOf<T>, $($generics)*> IntoValue<[T]> for $list {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                let elements: &[E] = &self[..];
                f(Value::Array(Array::of_slice(&elements)))
            }
        }
        #[diagnostic::do_not_recommend]
        impl<E: ListElement, $($generics)*> IntoValue<AnyAttribute> for $list {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                let elements: &[E] = &self[..];
                f(Value::Array(Array::of_slice(&elements)))
            }
        }
    )+};
}

lists!([] &[E], [] &&[E], [] &mut [E], [] Vec<E>, [] &Vec<E>, [] &mut Vec<E>, [const N: usize] [E; N], [const N: usize] &[E; N]);
lists!([] Box<[E]>, [] &Box<[E]>, [] Arc<[E]>, [] &Arc<[E]>);

into_value!(AnyAttribute: bool => |flag| Value::Bool(flag));

macro_rules! any {
    ($($as:ty: $($source:ty),+;)+) => {$($(
        #[diagnostic::do_not_recommend]
        impl IntoValue<AnyAttribute> for $source {
            #[inline]
            fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
                <Self as IntoValue<$as>>::with_value(self, f)
            }
        }
    )+)+};
}

any! {
    u64: u8, u16, u32, u64, usize, NonZeroU32, NonZeroU64, &u8, &u16, &u32, &u64, &usize, &NonZeroU32, &NonZeroU64;
    i64: i8, i16, i32, i64, isize, &i8, &i16, &i32, &i64, &isize;
    f64: f32, f64, &f32, &f64;
    str: &str, &&str, &mut str, String, &String, &mut String, Box<str>, &Box<str>, Arc<str>, &Arc<str>, Static;
    str: Cow<'_, str>, &Cow<'_, str>, fmt::Arguments<'_>;
}

#[diagnostic::do_not_recommend]
impl<T: fmt::Display> IntoValue<AnyAttribute> for Displayed<T> {
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        <Self as IntoValue<str>>::with_value(self, f)
    }
}

/// A field or an element that the macros record: `value` copies a `Copy` type and borrows any other, so that the annotated function
/// can still move it. For a type that is not `Copy` the compiler finds the method of the same name through `Deref`.
pub struct Place<'a, T: ?Sized>(Borrowed<'a, T>);

/// A place whose type is not `Copy`.
pub struct Borrowed<'a, T: ?Sized>(&'a T);

impl<'a, T: ?Sized> Place<'a, T> {
    /// Borrows a place.
    #[inline(always)]
    pub fn of(place: &'a T) -> Self {
        Place(Borrowed(place))
    }
}

impl<T: Copy> Place<'_, T> {
    /// Returns a copy.
    #[inline(always)]
    pub fn value(&self) -> T {
        *self.0.0
    }
}

impl<'a, T: ?Sized> Deref for Place<'a, T> {
    type Target = Borrowed<'a, T>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, T: ?Sized> Borrowed<'a, T> {
    /// Returns a reference.
    #[inline(always)]
    pub fn value(&self) -> &'a T {
        self.0
    }
}

/// Writes at most 1 KiB of `value`'s text to the stack and calls `f` with it. If `Display` panics or fails, `f` gets the text
/// that was written until then.
pub(crate) fn formatted<R>(value: &dyn fmt::Display, f: impl FnOnce(&str) -> R) -> R {
    let mut text = Bounded { bytes: [0; 1024], len: 0 };
    // The result is ignored: an error means only that the text was cut, and a panic of `Display` must not reach the program.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = fmt::write(&mut text, format_args!("{value}"));
    }));
    f(text.as_str())
}

struct Bounded {
    bytes: [u8; 1024],
    len: usize,
}

impl Bounded {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let kept = cut(text, self.bytes.len() - self.len);
        self.bytes[self.len..self.len + kept.len()].copy_from_slice(kept.as_bytes());
        self.len += kept.len();
        if kept.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Returns the longest prefix of `text` that has at most `limit` bytes and ends between two characters.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(cut("añb", 2), "a");
        assert_eq!(cut("añb", 3), "añ");
        assert_eq!(cut("ab", 9), "ab");
    }

    #[test]
    fn values_print_as_text_and_arrays_as_json() {
        for (value, expected) in [
            ("a b".into(), "a b"),
            (OwnedValue::I64(-7), "-7"),
            (OwnedValue::F64(0.5), "0.5"),
            (OwnedValue::Bool(true), "true"),
            (OwnedValue::StrArray(vec!["a\"b".into(), "c\nd\\\u{1}".into()]), r#"["a\"b","c\nd\\\u0001"]"#),
            (OwnedValue::I64Array(vec![1, -2]), "[1,-2]"),
            (OwnedValue::F64Array(vec![0.5, f64::NAN, f64::NEG_INFINITY]), r#"[0.5,"NaN","-Infinity"]"#),
            (OwnedValue::BoolArray(Vec::new()), "[]"),
        ] {
            assert_eq!(value.to_string(), expected);
        }
    }

    #[test]
    fn formats_without_the_heap_up_to_a_bound() {
        formatted(&format_args!("{}-{}", 1, "é".repeat(600)), |text| {
            assert_eq!(text.len(), 1024);
            assert!(text.starts_with("1-é"));
        });
    }

    #[test]
    fn a_panicking_display_leaves_what_it_wrote() {
        struct Bad;
        impl fmt::Display for Bad {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("half")?;
                panic!("on purpose")
            }
        }
        assert_eq!(formatted(&Bad, str::to_owned), "half");
    }
}
