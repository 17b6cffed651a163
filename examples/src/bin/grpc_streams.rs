//! An agent on a bidirectional stream that lasts as long as the agent.
//!
//! The layers record the stream as one long span on each side. Each message has a span of its own below it, up to a
//! cap. The work that a command requests belongs to its requester, so the command carries the requester's context: the
//! work is in the requester's trace, with a link to the message that brought the command.

#[path = "../rpc.rs"]
#[allow(dead_code, reason = "it is the demo's, and this needs a part of it")]
mod rpc;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http::{self, uri::PathAndQuery};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;
use tracecast::prelude::*;
use tracecast::{Carrier, Context, keys};
use tracecast_tower::{GrpcServerLayer, MessageSpans};

const CONNECT: &str = "/agents.v1.Backend/Connect";

#[derive(Clone, PartialEq, prost::Message)]
struct Command {
    #[prost(string, tag = "1")]
    artifact: String,
    /// The requester's context.
    #[prost(string, optional, tag = "2")]
    traceparent: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Outcome {
    #[prost(string, tag = "1")]
    artifact: String,
    #[prost(uint64, tag = "2")]
    bytes: u64,
}

/// The backend: sends commands to the agent that connects, and receives their outcomes.
#[derive(Clone)]
struct Backend {
    commands: Arc<Mutex<Option<mpsc::Receiver<Command>>>>,
    outcomes: mpsc::Sender<Outcome>,
}

impl Backend {
    /// Sends commands while outcomes arrive.
    async fn connect(self, request: Request<Streaming<Outcome>>) -> Result<Response<Commands>, Status> {
        let commands =
            self.commands.lock().await.take().ok_or_else(|| Status::already_exists("one agent is enough"))?;
        // A separate task, in the span of the call.
        let heard = async move {
            let spans = MessageSpans::new("Backend/Outcome").with_cap(100);
            let hear = |outcome| {
                let outcomes = self.outcomes.clone();
                async move { outcomes.send(outcome).await.map_err(|_| Status::cancelled("nobody listens")) }
            };
            spans.for_each(request.into_inner(), hear).await
        };
        tokio::spawn(heard.in_current_span());
        Ok(Response::new(tokio_stream::StreamExt::map(ReceiverStream::new(commands), Ok)))
    }
}

type Commands = tokio_stream::adapters::Map<ReceiverStream<Command>, fn(Command) -> Result<Command, Status>>;

impl rpc::Methods for Backend {
    const NAME: &'static str = "agents.v1.Backend";

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let connect = service_fn(move |request| self.clone().connect(request));
        tonic::server::Grpc::new(ProstCodec::<Command, Outcome>::default()).streaming(connect, request).await
    }
}

/// A user's request: the agent's work for it is in its trace.
#[tc_span("Dashboard/Prefetch", attrs(keys::tensor::artifact = artifact))]
async fn prefetch(commands: &mpsc::Sender<Command>, artifact: &str) -> Result<(), mpsc::error::SendError<Command>> {
    let traceparent = Carrier::inject().traceparent;
    commands.send(Command { artifact: artifact.to_owned(), traceparent }).await
}

/// The agent: runs commands until the backend has no more. `session` holds the stream and the messages.
#[tc_span("Agent/Session")]
async fn agent(address: String) -> Result<(), Status> {
    let (outcomes, sent) = mpsc::channel(8);
    let mut client = Grpc::new(rpc::channel(&address)?);
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static(CONNECT);
    let codec = ProstCodec::<Outcome, Command>::default();
    let answer = client.streaming(Request::new(ReceiverStream::new(sent)), path, codec).await?;
    let work = |command| {
        let outcomes = outcomes.clone();
        async move {
            let outcome = execute(&command, Context::current()).await;
            outcomes.send(outcome).await.map_err(|_| Status::cancelled("the backend is gone"))
        }
    };
    MessageSpans::new("Agent/Command").for_each(answer.into_inner(), work).await
}

#[tc_span("Agent/Execute", parent = asked_by(command), links(&message), attrs(keys::tensor::artifact = &command.artifact))]
async fn execute(command: &Command, message: Context) -> Outcome {
    tokio::time::sleep(Duration::from_millis(10)).await;
    Outcome { artifact: command.artifact.clone(), bytes: 4096 }
}

/// A command without a context starts a trace.
fn asked_by(command: &Command) -> Context {
    Carrier::new(command.traceparent.clone()).extract()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let telemetry = tracecast::init();
    let (commands, waiting) = mpsc::channel(8);
    let (told, mut outcomes) = mpsc::channel(8);
    let backend = Backend { commands: Arc::new(Mutex::new(Some(waiting))), outcomes: told };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let server = Server::builder().layer(GrpcServerLayer::new()).add_service(rpc::Served(backend));
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    let agent = tokio::spawn(agent(address));

    for artifact in ["resnet-50", "llama-3-8b", "gemma-2-9b"] {
        prefetch(&commands, artifact).await?;
        let outcome = outcomes.recv().await.ok_or("the agent is gone")?;
        println!("{}: {} bytes", outcome.artifact, outcome.bytes);
    }
    // No more commands: the stream ends, and its spans with it.
    drop(commands);
    agent.await??;
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}
