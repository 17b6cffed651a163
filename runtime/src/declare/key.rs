//! Keys: the typed names under which values are recorded. `tc_keys!` declares them.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use crate::declare::label::{Label, LabelText};
use crate::declare::sections::Source;

/// A declared key. Implemented by `tc_keys!`, not by hand.
///
/// ```
/// use tracecast::{Key, keys};
///
/// assert_eq!(keys::tensor::artifact::META.name, "tc.artifact.id");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    label = "not a key",
    note = "keys are declared with `tracecast::tc_keys!` and named by path, as in `attrs(keys::artifact = &id)`"
)]
pub trait Key: 'static {
    /// The type of the values.
    type Value: ?Sized;

    /// The declaration.
    const META: &'static KeyMeta;
}

/// A key that may label a metric. Implemented by `tc_keys!`, not by hand.
///
/// ```
/// use tracecast::{LabelKey, keys};
///
/// fn values<K: LabelKey>() -> Option<usize> {
///     K::META.cardinality
/// }
///
/// assert_eq!(values::<keys::tensor::source>(), Some(2)); // `keys::tensor::artifact`, an id, would not compile
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a label key, so it cannot label a metric",
    label = "its values are not a closed set",
    note = "only keys declared with `label` have a bounded number of values; an `id` or a `measure` goes on spans"
)]
pub trait LabelKey: Key {
    /// The key itself.
    #[doc(hidden)]
    type Itself;
}

/// The key `K`, if it may label a metric. Generated code names labels by this alias. For other keys the alias is not a type,
/// and the compiler reports this error once, however often the metric is used.
#[doc(hidden)]
pub type LabelOf<K> = <K as LabelKey>::Itself;

/// A value that represents the key `K`, such as `keys::bytes` in `current().set(keys::bytes, 9)`.
///
/// ```
/// use tracecast::{Key, KeyOf, keys};
///
/// fn name<K: Key>(_key: fn() -> KeyOf<K>) -> &'static str {
///     K::META.name
/// }
///
/// assert_eq!(name(keys::size_bytes), "tc.size.bytes");
/// ```
pub struct KeyOf<K>(PhantomData<fn() -> K>);

impl<K: Key> KeyOf<K> {
    /// Creates the value.
    #[expect(clippy::new_without_default, reason = "a key has no meaningful default")]
    pub const fn new() -> Self {
        KeyOf(PhantomData)
    }
}

/// The kind of a key, which determines where it may be used.
///
/// ```
/// use tracecast::{Key, keys};
/// use tracecast::catalogue::KeyKind;
///
/// assert_eq!(keys::tensor::source::META.kind, KeyKind::Label);
/// assert_eq!(keys::tensor::artifact::META.kind, KeyKind::Id);
/// assert_eq!(keys::size_bytes::META.kind, KeyKind::Measure);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// A label: a closed or bounded set of values, for spans and metrics.
    Label,
    /// An open identifier, for spans and logs only.
    Id,
    /// A quantity, for spans only.
    Measure,
    /// An attribute without a declared key, named where it is recorded, for the spans of that place only.
    AdHoc,
}

/// The type of a key's values in OTLP.
///
/// ```
/// use tracecast::{Key, keys};
/// use tracecast::catalogue::ValueType;
///
/// assert_eq!(keys::tensor::artifact::META.value_type, ValueType::Str);
/// assert_eq!(keys::size_bytes::META.value_type, ValueType::U64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueType {
    /// Text.
    Str,
    /// An unsigned integer.
    U64,
    /// A signed integer.
    I64,
    /// A floating-point number.
    F64,
    /// A flag.
    Bool,
    /// One of a label's texts.
    Label,
    /// A list of texts.
    StrArray,
    /// A list of unsigned integers.
    U64Array,
    /// A list of signed integers.
    I64Array,
    /// A list of floating-point numbers.
    F64Array,
    /// A list of flags.
    BoolArray,
    /// Any type, determined when the value is recorded. Only attributes without a declared key have this type.
    Any,
}

/// The declaration of a key.
///
/// ```
/// use tracecast::{Key, keys};
///
/// let meta = keys::tensor::source::META;
/// assert_eq!((meta.name, meta.cardinality), ("tc.source.type", Some(2)));
/// assert_eq!(meta.description, "Where the bytes come from.");
/// ```
// The alignment leaves the low bits of the address free for the tag of a recorded value.
#[repr(C, align(16))]
pub struct KeyMeta {
    // The first field, as `sections` requires.
    pub(crate) source: &'static Source,
    /// The attribute's name in OTLP.
    pub name: &'static str,
    /// The kind.
    pub kind: KeyKind,
    /// The type of the values in OTLP.
    pub value_type: ValueType,
    /// The text of the doc comment.
    pub description: &'static str,
    /// The number of values of a label; `None` for other keys.
    pub cardinality: Option<usize>,
    /// Whether a shared value is sent to the next process as baggage.
    pub baggage: bool,
    /// Whether log lines and records below a span that shares a value also carry this value.
    pub logs: bool,
    /// The place of the declaration.
    pub location: &'static Location<'static>,
    text: fn(usize) -> LabelText,
    /// The attributes that represent the label on metrics, if there are several.
    pub(crate) parts: &'static [&'static str],
    part: fn(usize, usize) -> LabelText,
    pub(crate) learnt: bool,
    /// The ordinal that means "no value": metrics and spans then lack the attribute.
    pub(crate) none: Option<usize>,
}

impl KeyMeta {
    /// Declares a label of type `L`.
    #[doc(hidden)]
    #[track_caller]
    pub const fn label<L: Label>(name: &'static str, description: &'static str, source: &'static Source) -> Self {
        let mut meta = KeyMeta::new(name, description, KeyKind::Label, ValueType::Label, source);
        meta.cardinality = Some(L::CARDINALITY);
        meta.text = L::value;
        meta.parts = L::PARTS;
        meta.part = L::part;
        meta.learnt = L::LEARNT;
        meta.none = L::NONE;
        meta
    }

    /// Declares an open identifier.
    #[doc(hidden)]
    #[track_caller]
    pub const fn id<T: AttributeType + ?Sized>(
        name: &'static str,
        description: &'static str,
        source: &'static Source,
    ) -> Self {
        KeyMeta::new(name, description, KeyKind::Id, T::TYPE, source)
    }

    /// Declares a quantity.
    #[doc(hidden)]
    #[track_caller]
    pub const fn measure<T: AttributeType + ?Sized>(
        name: &'static str,
        description: &'static str,
        source: &'static Source,
    ) -> Self {
        KeyMeta::new(name, description, KeyKind::Measure, T::TYPE, source)
    }

    /// Declares an attribute that is named where it is recorded.
    #[doc(hidden)]
    #[track_caller]
    pub const fn ad_hoc<T: AttributeType + ?Sized>(name: &'static str, source: &'static Source) -> Self {
        KeyMeta::new(name, "", KeyKind::AdHoc, T::TYPE, source)
    }

    /// Sends shared values of this key to the next process as baggage.
    #[doc(hidden)]
    pub const fn baggage(mut self) -> Self {
        self.baggage = true;
        self
    }

    /// Adds shared values of this key to log lines and records.
    #[doc(hidden)]
    pub const fn logs(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Returns the text of a label's value; `?` if the implementation of the label panics.
    pub(crate) fn label_text(&self, ordinal: usize) -> LabelText {
        // A hand-written label may panic, which must not end the reader or the program.
        std::panic::catch_unwind(|| (self.text)(ordinal)).unwrap_or(LabelText::Borrowed("?"))
    }

    /// Returns whether several attributes represent the label on metrics.
    pub(crate) fn is_joint(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns the attributes that represent a value of the label on metrics; those with an empty text are omitted if the label
    /// has several.
    pub(crate) fn attributes(&self, ordinal: usize) -> impl Iterator<Item = (&'static str, LabelText)> {
        let whole = self.parts.is_empty().then(|| (self.name, self.label_text(ordinal)));
        let text = move |part| std::panic::catch_unwind(|| (self.part)(ordinal, part));
        let parts = self.parts.iter().enumerate();
        let parts = parts.map(move |(at, name)| (*name, text(at).unwrap_or(LabelText::Borrowed("?"))));
        whole.into_iter().chain(parts.filter(|(_, text)| !text.is_empty()))
    }

    /// Returns whether the same ordinal always has the same text for both keys.
    pub(crate) fn same_texts(&self, other: &KeyMeta) -> bool {
        let same_place = self.location == other.location;
        let texts = |key: &KeyMeta| (0..key.cardinality.unwrap_or(0)).map(|at| key.label_text(at)).collect::<Vec<_>>();
        same_place || (!self.learnt && !other.learnt && self.parts == other.parts && texts(self) == texts(other))
    }

    /// Sets the place of the declaration. A derived key has the place of its original.
    pub(crate) const fn at(mut self, location: &'static Location<'static>) -> Self {
        self.location = location;
        self
    }

    #[track_caller]
    const fn new(
        name: &'static str,
        description: &'static str,
        kind: KeyKind,
        value_type: ValueType,
        source: &'static Source,
    ) -> Self {
        KeyMeta {
            source,
            name,
            kind,
            value_type,
            description,
            cardinality: None,
            baggage: false,
            logs: false,
            location: Location::caller(),
            text: no_text,
            parts: &[],
            part: no_part,
            learnt: false,
            none: None,
        }
    }
}

/// Two declarations of a key are equal if they describe the same attribute.
impl PartialEq for KeyMeta {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value_type == other.value_type
    }
}

impl fmt::Debug for KeyMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyMeta").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

fn no_text(_: usize) -> LabelText {
    LabelText::Borrowed("")
}

fn no_part(_: usize, _: usize) -> LabelText {
    LabelText::Borrowed("")
}

/// Types that the value of a key may have.
#[diagnostic::on_unimplemented(
    message = "an attribute cannot be of type `{Self}`",
    note = "use `str`, `u64`, `i64`, `f64` or `bool`, or a list of one of them, as `[str]`"
)]
pub trait AttributeType {
    /// The type in OTLP.
    const TYPE: ValueType;
}

macro_rules! types {
    ($($type:ty => $variant:ident),+) => {$(
        impl AttributeType for $type {
            const TYPE: ValueType = ValueType::$variant;
        }
    )+};
}

types!(str => Str, u64 => U64, i64 => I64, f64 => F64, bool => Bool, AnyAttribute => Any);
types!([&'static str] => StrArray, [u64] => U64Array, [i64] => I64Array, [f64] => F64Array, [bool] => BoolArray);

/// The type of an attribute that is named where it is recorded, if the macro cannot know the type of its value, as in
/// `attrs("http.request.header.x" = request.header())`. The type follows from the value.
#[derive(Debug)]
pub enum AnyAttribute {}
