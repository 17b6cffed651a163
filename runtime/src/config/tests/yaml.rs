//! Reads YAML as values of `serde_json`. Applications use a crate for that; this is enough for tests.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Reads the documents of a text.
pub(crate) fn yaml(text: &str) -> Vec<Value> {
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut anchors: HashMap<usize, Value> = HashMap::new();
    let mut documents = Vec::new();
    for event in Parser::new_from_str(text) {
        let (finished, anchor) = match event.unwrap_or_else(|error| panic!("{error}\n{text}")).0 {
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style == ScalarStyle::Plain), anchor),
            Event::SequenceStart(..) => {
                open.push((Value::Array(Vec::new()), None));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((Value::Object(Map::new()), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => (open.pop().unwrap().0, 0),
            Event::Alias(anchor) => (anchors[&anchor].clone(), 0),
            _ => continue,
        };
        anchors.insert(anchor, finished.clone());
        match open.last_mut() {
            None => documents.push(finished),
            Some((Value::Array(items), _)) => items.push(finished),
            Some((Value::Object(entries), key)) => match key.take() {
                Some(key) => {
                    assert!(entries.insert(key.clone(), finished).is_none(), "`{key}` is listed twice\n{text}")
                }
                None => *key = Some(finished.as_str().map_or_else(|| finished.to_string(), str::to_owned)),
            },
            Some(_) => unreachable!("only lists and maps are open"),
        }
    }
    documents
}

fn scalar(text: &str, plain: bool) -> Value {
    match text {
        "true" | "false" if plain => Value::Bool(text == "true"),
        "" | "~" | "null" if plain => Value::Null,
        _ if plain => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        _ => Value::String(text.to_owned()),
    }
}
