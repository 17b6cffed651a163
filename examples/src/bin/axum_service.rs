//! An axum service and its client: one layer on each side makes each request one trace, from the client to the handler.
//! Spans are named by the route's template, `GET /models/{id}`, so callers cannot add names; metrics have the template
//! as a label. The program calls itself a few times and exits.

use std::error::Error;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use axum::{Json, Router};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tower::{Layer as _, ServiceExt as _};
use tracecast::current;
use tracecast::keys::tensor::artifact;
use tracecast::prelude::*;
use tracecast_tower::{HttpClient, HttpClientLayer, HttpServerLayer};

type Caller = HttpClient<Client<HttpConnector, Empty<Bytes>>>;

async fn model(Path(id): Path<String>) -> Result<Json<Vec<String>>, StatusCode> {
    // The request's span is current here.
    current().set(artifact, &id);
    find(&id).map(Json).ok_or(StatusCode::NOT_FOUND)
}

/// The database form: the span is named `models.select`, its kind is client, and it has the conventional attributes.
#[tc_span(db(system = "sqlite", collection = "models", operation = "select"))]
fn find(id: &str) -> Option<Vec<String>> {
    (id == "llama-3-8b").then(|| vec!["layer-0".to_owned(), "layer-1".to_owned()])
}

async fn broken() -> StatusCode {
    tracing::error!("the index is damaged");
    StatusCode::INTERNAL_SERVER_ERROR
}

#[tc_span("Dashboard/Fetch")]
async fn fetch(client: &Caller, url: String) -> Result<(StatusCode, usize), Box<dyn Error + Send + Sync>> {
    let request = Request::get(url).body(Empty::new())?;
    let response = client.clone().oneshot(request).await?;
    let status = response.status();
    // The client's span ends with the body.
    let body = response.into_body().collect().await?;
    Ok((status, body.to_bytes().len()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let telemetry = tracecast::init();
    let router = Router::new()
        .route("/models/{id}", get(model))
        .route("/broken", get(broken))
        // Inside the router, so that the layer sees the matched route.
        .layer(HttpServerLayer::new());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });

    let client = HttpClientLayer::new().layer(Client::builder(TokioExecutor::new()).build_http());
    for path in ["models/llama-3-8b", "models/unknown", "broken"] {
        let (status, bytes) = fetch(&client, format!("http://{address}/{path}")).await?;
        println!("{path}: {status}, {bytes} bytes");
    }
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}
