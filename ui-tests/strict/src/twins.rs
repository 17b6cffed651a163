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

#[cfg_attr(annotated, tc_span("Twins/Stream", stream))]
pub fn streams(numbers: Vec<u32>) -> impl futures::Stream<Item = Result<u8, String>> {
    let first = numbers[0];
    async_stream::stream! {
        println!("{first}");
        yield Ok(first as u8);
    }
}

#[cfg_attr(annotated, tc_span("Twins/Items", stream))]
pub fn items(numbers: Vec<u32>) -> impl futures::Stream<Item = u8> {
    let first = numbers[0];
    futures::stream::iter(numbers.into_iter().map(move |number| (number + first) as u8))
}

#[cfg_attr(annotated, tc_span("Twins/Generic"))]
pub fn generic<T: Clone + std::str::FromStr, const N: usize>(texts: &[String; N], default: &T) -> T {
    let first = texts[0].parse::<T>().ok();
    first.unwrap_or(default.clone())
}

#[cfg_attr(annotated, tc_span("Twins/Result", result(tracecast::keys::size_bytes = |bytes| *bytes)))]
pub fn results(text: &str) -> Result<u64, std::num::ParseIntError> {
    let number = text.parse::<u64>()?;
    println!("{}", text.to_string());
    Ok(number + 1)
}

#[cfg_attr(annotated, tc_span("Twins/Labels"))]
#[cfg_attr(
    annotated,
    tc_metric(calls = "tc_twins_labels_total", duration = "tc_twins_labels_seconds", labels(tracecast::keys::device = device))
)]
pub fn labels(device: usize, values: &[u8]) -> u8 {
    let value = values[device];
    print!("{}", value as u32);
    value.clone()
}

pub struct Named {
    pub names: Vec<String>,
}

#[cfg_attr(annotated, tc_span(component = "Named", methods = pub))]
impl Named {
    pub fn longest(&self) -> usize {
        let lengths: Vec<usize> = self.names.iter().map(|name| name.len()).collect();
        lengths.iter().max().unwrap().clone()
    }

    #[cfg_attr(annotated, tc_metric(calls = "tc_twins_named_total"))]
    pub async fn find(&self, name: String) -> Option<usize> {
        std::future::ready(()).await;
        let found = self.names.iter().position(|known| *known == name);
        println!("{:?}", found);
        return found;
    }
}

pub trait Fetch {
    async fn fetch(&self, name: &str) -> Result<u8, String>;
}

impl Fetch for Named {
    #[cfg_attr(annotated, tc_span("Twins/AsyncTrait"))]
    async fn fetch(&self, name: &str) -> Result<u8, String> {
        std::future::ready(()).await;
        let at = self.names.iter().position(|known| known == name).ok_or("no such name".to_string())?;
        Ok(at as u8)
    }
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

#[cfg_attr(annotated, tc_span("Twins/Returns"))]
pub async fn returns(name: String) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    return Some(name.len());
}

#[cfg_attr(annotated, tc_span("Twins/NoAwait"))]
pub async fn never_waits(number: u8) -> u8 {
    number + 1
}
