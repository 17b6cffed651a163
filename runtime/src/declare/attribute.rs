//! Values of attributes that are plain data: of the resource, and of telemetry that others made.

/// The value of an attribute of the resource, or of telemetry that others made.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is named after its type")]
#[non_exhaustive]
pub enum AttributeValue {
    Str(String),
    I64(i64),
    F64(f64),
    Bool(bool),
    StrArray(Vec<String>),
    I64Array(Vec<i64>),
    F64Array(Vec<f64>),
    BoolArray(Vec<bool>),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        AttributeValue::Str(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        AttributeValue::Str(text)
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        AttributeValue::I64(number)
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        AttributeValue::F64(number)
    }
}

impl From<bool> for AttributeValue {
    fn from(truth: bool) -> Self {
        AttributeValue::Bool(truth)
    }
}
