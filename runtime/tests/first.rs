use tracecast::prelude::*;
use tracecast::testing::capture;

#[derive(Clone, Copy, TcLabel)]
pub enum SourceType {
    Remote,
    Disk,
}

mod keys {
    use super::SourceType;
    tracecast::tc_keys! {
        /// a
        pub label source: SourceType = "tc.source.type";
        /// b
        pub label device: Index<16> = "tc.device.id";
        /// c
        pub label tenant: Interned<32> = "tc.tenant.class";
        /// d
        pub id artifact: str = "tc.artifact.id";
        /// e
        pub measure bytes: u64 = "tc.size.bytes";
    }
}

#[tc_span("Store/Load", attrs(keys::source = s, keys::device = 3_u32, keys::tenant = "gold", keys::artifact = name), result(keys::bytes = |v| v.len()))]
fn load(name: &str, s: SourceType) -> Result<Vec<u8>, std::io::Error> {
    if name.is_empty() {
        return Err(std::io::Error::other("empty"));
    }
    Ok(name.as_bytes().to_vec())
}

#[tc_span("Store/Get")]
async fn get(name: &str) -> Result<usize, std::io::Error> {
    let _s = load(name, SourceType::Disk)?;
    Ok(inner(3).await)
}

#[tc_span("Store/Inner")]
async fn inner(n: usize) -> usize {
    n
}

#[test]
fn works() {
    let c = capture(|| {
        futures::executor::block_on(async {
            let _ = get("abc").await;
            let _ = get("").await;
        })
    });
    println!("{c}");
    println!("{}", tracecast::catalogue().to_markdown());
    assert_eq!(c.spans.len(), 5);
}
