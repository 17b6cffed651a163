//! One gRPC call to the kubelet: `v1.PodResourcesLister/List`, whose request is empty.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use tokio::net::UnixStream;
use tokio::runtime::Builder;

/// The timeout of a call. A kubelet answers in milliseconds, a busy one takes longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest accepted answer, far more than a node needs.
const MOST_BYTES: usize = 16 << 20;
/// The gRPC frame of an empty, uncompressed message.
const NOTHING: [u8; 5] = [0; 5];

/// Returns the message of the kubelet's answer, or the cause of a failure.
pub(super) fn list(socket: &Path) -> Result<Vec<u8>, String> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let answer = tokio::time::timeout(PATIENCE, call(socket)).await;
        answer.unwrap_or_else(|_| Err(format!("no answer in {PATIENCE:?}")))
    })
}

async fn call(socket: &Path) -> Result<Vec<u8>, String> {
    let text = |error: h2::Error| error.to_string();
    let stream = UnixStream::connect(socket).await.map_err(|error| error.to_string())?;
    let (sender, connection) = h2::client::handshake(stream).await.map_err(text)?;
    // The task ends with the runtime.
    tokio::spawn(connection);
    let mut sender = sender.ready().await.map_err(text)?;
    let request = Request::post("http://localhost/v1.PodResourcesLister/List")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .map_err(|error| error.to_string())?;
    let (response, mut body) = sender.send_request(request, false).map_err(text)?;
    body.send_data(Bytes::from_static(&NOTHING), true).map_err(text)?;
    let response = response.await.map_err(text)?;
    if !response.status().is_success() {
        return Err(format!("HTTP status {}", response.status()));
    }
    // An immediate error has its status in the headers, without body and trailers.
    check(response.headers())?;
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.map_err(text)?;
        body.flow_control().release_capacity(chunk.len()).map_err(text)?;
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MOST_BYTES {
            return Err(format!("its answer is longer than {MOST_BYTES} bytes"));
        }
    }
    body.trailers().await.map_err(text)?.iter().try_for_each(check)?;
    message(bytes)
}

fn check(headers: &HeaderMap) -> Result<(), String> {
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match text("grpc-status").filter(|status| status != "0") {
        None => Ok(()),
        Some(status) => Err(format!("gRPC status {status}: {}", text("grpc-message").unwrap_or_default())),
    }
}

/// Returns the only message of an answer, without its five-byte frame header.
fn message(mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let is_whole = match bytes[..] {
        [0, a, b, c, d, ref rest @ ..] => u32::from_be_bytes([a, b, c, d]) as usize == rest.len(),
        _ => false,
    };
    if is_whole { Ok(bytes.split_off(NOTHING.len())) } else { Err("its answer is no message".to_owned()) }
}
