//! Functions whose parts come from `macro_rules!`, and with them the invisible groups around those parts.

use tracecast::{keys, tc_span};

macro_rules! loaders {
    ($($name:ident: $span:literal, $key:path = $value:expr => $output:ty $body:block)+) => {$(
        #[tc_span($span, attrs($key = $value))]
        fn $name() -> $output $body
    )+};
}

loaders! {
    load: "StoreDaemon/Load", keys::tensor::artifact = "llama" => Result<u64, String> { Ok(4) }
    size: "StoreDaemon/Size", keys::size_bytes = 4_u64 => u64 { 4 }
}

macro_rules! whole {
    ($item:item) => {
        #[tc_span("StoreDaemon/Fetch")]
        $item
    };
}

whole! {
    async fn fetch(id: &str) -> usize {
        id.len()
    }
}

pub(crate) fn main() {
    assert_eq!(load(), Ok(size()));
    drop(fetch("llama"));
}
