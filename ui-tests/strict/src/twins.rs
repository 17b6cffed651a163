//! Functions in which many lints fire. `.ci/lints` compares what the compiler and clippy say of them with and without the
//! attributes, line by line: each lint that fires on the plain function fires on the annotated one, and no other.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]

use std::collections::HashMap;
use std::sync::Mutex;

#[cfg(annotated)]
use tracecast::{tc_metric, tc_span};

#[cfg_attr(annotated, tc_span("Twins/Prints"))]
pub fn prints(number: u32) -> u32 {
    println!("{number}");
    eprintln!("{number}");
    dbg!(number)
}

#[cfg_attr(annotated, tc_span("Twins/Unwraps", attrs(tracecast::keys::size_bytes = text.len())))]
pub fn unwraps(text: &str) -> u8 {
    let first: u8 = text.parse().unwrap();
    let second: u8 = text.parse().expect("a number");
    if first > second {
        panic!("on purpose");
    }
    first + second
}

#[cfg_attr(annotated, tc_span("Twins/Fails"))]
#[cfg_attr(annotated, tc_metric(calls = "tc_twins_fails_total"))]
pub fn fails(text: &str, table: &HashMap<String, u8>) -> Result<u8, std::num::ParseIntError> {
    let unused = 1;
    let number = text.parse::<u8>()?;
    let _ = table.get(text).clone();
    return Ok(number as u8 + table[text]);
}

#[cfg_attr(annotated, tc_span("Twins/Slices"))]
pub fn slices(values: &Vec<f64>, at: usize) -> f64 {
    let total = values[at] + values[at + 1];
    if total == 1.0 { values[..at].iter().sum() } else { total / (at as f64) }
}

#[cfg_attr(annotated, tc_span("Twins/Shadows"))]
fn never_called(mut value: String) -> String {
    let value = value.clone();
    let value = format!("{}", value);
    match value.len() {
        0 => String::new(),
        _ => value.to_string(),
    }
}

#[cfg_attr(annotated, tc_span("Twins/Async"))]
pub async fn waits(lock: &Mutex<u8>) -> u8 {
    let held = lock.lock().unwrap();
    std::future::ready(()).await;
    println!("{}", *held);
    *held as u8
}

#[cfg_attr(annotated, tc_span("Twins/AsyncResult"))]
pub async fn tries(text: String) -> Result<u16, Box<dyn std::error::Error>> {
    let number = text.parse::<u16>()?;
    std::future::ready(()).await;
    todo!("{number}")
}

#[cfg_attr(annotated, tc_span("Twins/Boxed"))]
pub fn boxed(number: i64) -> std::pin::Pin<Box<dyn Future<Output = i32> + Send>> {
    let half = number / 2;
    Box::pin(async move {
        print!("{half}");
        half as i32
    })
}

pub struct Store {
    pub items: Vec<u8>,
}

impl Store {
    #[cfg_attr(annotated, tc_span("Twins/Method"))]
    pub fn first(&self) -> u8 {
        if self.items.len() == 0 {
            return 0;
        }
        self.items[0]
    }

    #[cfg_attr(annotated, tc_span("Twins/MutMethod"))]
    pub fn push(&mut self, item: u8) {
        self.items.push(item);
        self.items.get(0).unwrap();
    }

    #[cfg_attr(annotated, tc_span("Twins/AsyncMethod"))]
    async fn unused_method(&self) -> usize {
        let count = self.items.iter().map(|item| item.clone()).filter(|item| *item > 0).count();
        std::future::ready(()).await;
        count
    }
}

pub trait Load {
    fn load(&self, name: &str) -> Option<u8>;

    #[cfg_attr(annotated, tc_span("Twins/Default"))]
    fn load_twice(&self, name: &str) -> Option<u8> {
        let first = self.load(name).unwrap();
        self.load(name).map(|second| first + second)
    }
}

impl Load for Store {
    #[cfg_attr(annotated, tc_span("Twins/Load"))]
    fn load(&self, name: &str) -> Option<u8> {
        let at: usize = name.parse().ok().unwrap_or(0);
        Some(*self.items.get(at).expect("an item"))
    }
}
