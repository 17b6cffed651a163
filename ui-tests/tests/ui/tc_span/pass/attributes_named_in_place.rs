//! Attributes that are named where they are recorded, on every shape of function.

#![deny(dead_code, unused_variables)]

use tracecast::testing::capture;
use tracecast::{tc_scope, tc_span};

struct Request {
    id: String,
    tags: Vec<String>,
}

impl Request {
    fn retries(&self) -> Option<u32> {
        Some(3)
    }
}

struct Store<T>(Option<T>);

#[tc_span(component = "Store")]
impl<T: Send + Sync> Store<T> {
    #[tc_span(attrs("tc.id" = &request.id, "tc.tags" = &request.tags, "tc.retries" = request.retries()))]
    async fn put(&self, request: &Request) -> usize {
        let _scope = tc_scope!("Store/Part", attrs("tc.first": [str] = request.tags.first().map(std::slice::from_ref)));
        request.tags.len() + usize::from(self.0.is_some())
    }

    #[tc_span(attrs("tc.size" = size), result("tc.half" = |half| *half, "tc.fine" = |half| half.is_finite()))]
    fn half<N: Into<f64> + Copy>(&self, size: u64, of: N) -> f64 {
        of.into() / 2.0
    }
}

#[tc_span("Store/Failing", attrs("http.request.header.x-id" = [id]), result("tc.length" = |length| *length))]
fn failing(id: &str) -> Result<usize, String> {
    if id.is_empty() { Err("empty".to_owned()) } else { Ok(id.len()) }
}

pub(crate) fn main() {
    let request = Request { id: "a".to_owned(), tags: vec!["x".to_owned(), "y".to_owned()] };
    let captured = capture(|| {
        let mut put = std::pin::pin!(Store(Some(())).put(&request));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(put.as_mut().poll(&mut context).is_ready());
        Store(Some(0)).half(2, 1_u8);
        let _ = (failing("id"), failing(""));
    });
    captured.assert_tree(
        "
        Store/Put tc.id=a tc.tags=[x, y] tc.retries=3
          Store/Part tc.first=[x]
        Store/Half tc.size=2 tc.half=0.5 tc.fine=true
        Store/Failing http.request.header.x-id=[id] tc.length=2
        Store/Failing error http.request.header.x-id=[\"\"] error.type=alloc::string::String error.message=empty
        ",
    );
}
