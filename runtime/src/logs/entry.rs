//! A log event while it is handled. All data is in buffers that the thread reuses.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::config::redact::{self, Redact};
use crate::config::{Level, LogLimits};
use crate::declare::value::{OwnedValue, Value, cut};
use crate::trace::context::Context;

/// The number of bytes beyond the limit of a text that are formatted for the redaction hook, which might not recognise
/// a secret that is cut in two.
const FOR_REDACTION: usize = 4 << 10;
/// The end of a text that was cut. The limit includes it.
const MARK: &str = "…";
/// The largest number of error sources that are followed: a chain may be endless.
const SOURCES: usize = 16;
/// Buffers that grew larger than this many bytes are freed.
pub(super) const KEPT: usize = 64 << 10;

/// A static text, or a range of the entry's own buffer.
#[derive(Clone, Debug)]
pub(super) enum Text {
    Static(&'static str),
    Own(Range<usize>),
}

/// The value of a field: a text, or a value of another type.
#[derive(Clone, Debug)]
pub(super) enum Field {
    Text(Text),
    Plain(OwnedValue),
}

/// A log event.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) unix_nanos: u64,
    pub(super) level: Level,
    pub(super) context: Context,
    pub(super) target: Text,
    /// The message. `None` until it is read: an event may also have fields named `message`, after its text.
    pub(super) message: Option<Text>,
    pub(super) file: Option<Text>,
    pub(super) line: Option<u32>,
    pub(super) fields: Vec<(Text, Field)>,
    /// The number of fields beyond the limit.
    pub(super) dropped: u32,
    limits: LogLimits,
    redact: Option<Redact>,
    texts: String,
}

impl Default for Entry {
    fn default() -> Self {
        Entry {
            unix_nanos: 0,
            level: Level::Off,
            context: Context::default(),
            target: Text::Static(""),
            message: None,
            file: None,
            line: None,
            fields: Vec::new(),
            dropped: 0,
            limits: LogLimits::default(),
            redact: None,
            texts: String::new(),
        }
    }
}

impl Entry {
    /// Starts the next event with the current context and its shared keys. Keeps the buffers, except one for texts that
    /// is larger than `KEPT`.
    pub(super) fn begin(&mut self, unix_nanos: u64, level: Level, limits: LogLimits, redact: &Option<Redact>) {
        let mut old = std::mem::take(self);
        old.texts.clear();
        old.fields.clear();
        let texts = if old.texts.capacity() > KEPT { String::new() } else { old.texts };
        let (redact, context) = (redact.clone(), Context::current());
        *self = Entry { unix_nanos, level, context, limits, redact, texts, fields: old.fields, ..Entry::default() };
        self.share();
    }

    /// Adds the shared keys that are declared for logs. Fields of the event with the same names replace them.
    fn share(&mut self) {
        let context = self.context.clone();
        for (key, value) in context.shared().iter().filter(|(key, _)| key.logs) {
            self.set(Text::Static(key.name), value.as_value());
        }
    }

    pub(super) fn text<'a>(&'a self, text: &'a Text) -> &'a str {
        match text {
            Text::Static(text) => text,
            Text::Own(range) => self.texts.get(range.clone()).unwrap_or_default(),
        }
    }

    /// Returns the message; empty if there is none.
    pub(super) fn message(&self) -> &str {
        self.message.as_ref().map_or("", |message| self.text(message))
    }

    /// Converts a text to one that can outlive the entry.
    pub(super) fn owned(&self, text: &Text) -> Cow<'static, str> {
        match text {
            Text::Static(text) => Cow::Borrowed(text),
            Text::Own(_) => Cow::Owned(self.text(text).to_owned()),
        }
    }

    /// Converts a field to a value that can outlive the entry.
    pub(super) fn owned_value(&self, field: &Field) -> OwnedValue {
        match field {
            Field::Text(text) => OwnedValue::Str(self.owned(text)),
            Field::Plain(value) => value.clone(),
        }
    }

    /// Returns the largest number of attributes, including the attributes of the source location.
    pub(super) fn limit(&self) -> usize {
        self.limits.attributes as usize
    }

    /// Copies a text without redacting it, and cuts it at the limit for values. Used for names of targets, files and
    /// fields.
    pub(super) fn copy(&mut self, name: &str) -> Text {
        let start = self.texts.len();
        let limit = self.value_bytes();
        self.texts.push_str(cut(name, limit));
        self.marked(start, name.len() > limit)
    }

    /// Returns the text that begins at `start`, and marks its end if it was cut.
    fn marked(&mut self, start: usize, is_cut: bool) -> Text {
        // A mark without any text would be useless.
        if let Some(room) = self.value_bytes().checked_sub(MARK.len()).filter(|room| is_cut && *room > 0) {
            self.texts.truncate(start + cut(&self.texts[start..], room).len());
            self.texts.push_str(MARK);
        }
        Text::Own(start..self.texts.len())
    }

    pub(super) fn set_message(&mut self, message: fmt::Arguments<'_>) {
        self.message = Some(match message.as_str() {
            Some(text) => self.value("message", text),
            None => self.format("message", message),
        });
    }

    /// Sets a field to a value, whose texts are redacted and cut.
    pub(super) fn set(&mut self, name: Text, value: Value<'_>) {
        if let Value::Str(text) = value {
            let text = self.named(&name, |entry, name| entry.value(name, text));
            self.put(name, Field::Text(text));
        } else if let Some(mut value) = value.into_owned() {
            value.change_texts(|text| {
                let redacted = redact::apply(&self.redact, self.text(&name), text);
                let kept = cut(&redacted, self.value_bytes());
                (kept != text).then(|| kept.to_owned())
            });
            self.put(name, Field::Plain(value));
        }
    }

    /// Sets a field to a formatted text.
    pub(super) fn set_formatted(&mut self, name: Text, value: fmt::Arguments<'_>) {
        let text = self.named(&name, |entry, name| entry.format(name, value));
        self.put(name, Field::Text(text));
    }

    /// Runs `f` with the text of a name, which may be in the buffer that `f` writes to.
    fn named(&mut self, name: &Text, f: impl FnOnce(&mut Entry, &str) -> Text) -> Text {
        match name {
            Text::Static(name) => f(self, name),
            Text::Own(_) => {
                let name = self.text(name).to_owned();
                f(self, &name)
            }
        }
    }

    /// Sets a field. Replaces an earlier field with the same name; if the limit is reached, only counts the field as
    /// dropped.
    fn put(&mut self, name: Text, field: Field) {
        let same = |(given, _): &(Text, Field)| self.text(given) == self.text(&name);
        match self.fields.iter().position(same) {
            Some(at) => self.fields[at].1 = field,
            None if self.fields.len() < self.limit() => self.fields.push((name, field)),
            None => self.dropped += 1,
        }
    }

    fn value(&mut self, name: &str, text: &str) -> Text {
        let redacted = redact::apply(&self.redact, name, text);
        self.copy(&redacted)
    }

    /// Formats, redacts and cuts a value. If formatting panics, the text written until then is kept: the panic must not
    /// reach the program.
    fn format(&mut self, name: &str, value: fmt::Arguments<'_>) -> Text {
        let start = self.texts.len();
        let room = self.value_bytes() + if self.redact.is_some() { FOR_REDACTION } else { 0 };
        let mut bounded = Bounded { texts: &mut self.texts, end: start + room, is_cut: false };
        let formatted = catch_unwind(AssertUnwindSafe(|| {
            // An error means that the text was cut or that the value failed; either way the written text is used.
            let _ = bounded.write_fmt(value);
        }));
        let is_cut = bounded.is_cut;
        if let Err(payload) = formatted {
            // Dropping the payload may panic again.
            std::mem::forget(payload);
        }
        if self.redact.is_some() {
            let mut whole = self.texts.split_off(start);
            whole.push_str(if is_cut { MARK } else { "" });
            return self.value(name, &whole);
        }
        self.marked(start, is_cut)
    }

    fn value_bytes(&self) -> usize {
        self.limits.value_bytes as usize
    }
}

/// Writes into a buffer up to an end, and fails at the first text that does not fit.
struct Bounded<'a> {
    texts: &'a mut String,
    end: usize,
    is_cut: bool,
}

impl fmt::Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fitting = cut(text, self.end.saturating_sub(self.texts.len()));
        self.texts.push_str(fitting);
        if fitting.len() < text.len() {
            // No later text may follow the cut, even if it fits.
            self.end = self.texts.len();
            self.is_cut = true;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// An error with its sources: `could not load: connection refused`. A source is omitted if the previous text ends with it, because
/// many errors already print their source.
pub(super) struct Chain<'a>(pub(super) &'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = bounded(self.0);
        f.write_str(&last)?;
        for source in std::iter::successors(self.0.source(), |&error| error.source()).take(SOURCES) {
            let text = bounded(source);
            if !last.ends_with(&text) {
                f.write_str(": ")?;
                f.write_str(&text)?;
                last = text;
            }
        }
        Ok(())
    }
}

/// Formats one error of a chain, cut at `KEPT` bytes.
fn bounded(error: &dyn Error) -> String {
    let mut texts = String::new();
    let _ = write!(Bounded { texts: &mut texts, end: KEPT, is_cut: false }, "{error}");
    texts
}
