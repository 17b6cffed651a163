//! A controller of training runs: identifiers on every span, across process boundaries.
//!
//! Filtering by a session shows all of its work in all processes. A key in `share(..)` is on every span below; a key
//! declared `{ baggage }` also travels with the context, here in the message to an actor. Identifiers are on spans
//! only; metrics have labels with few values, so they stay small with any number of sessions.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracecast::Carrier;
use tracecast::prelude::*;

/// The models that can be tuned.
#[derive(Clone, Copy, Debug, TcLabel, serde::Deserialize, serde::Serialize)]
pub enum BaseModel {
    /// Llama 3.
    Llama3,
    /// Qwen 2.
    Qwen2,
}

mod keys {
    tracecast::tc_keys! {
        /// A user's session.
        pub id session: str = "tc.session.id" { baggage };
        /// A training run in the session.
        pub id training_run: str = "tc.training_run.id" { baggage };
        /// A request of the run. It stays in this process.
        pub id request: u64 = "tc.request.id";
        /// The model that is tuned.
        pub label base_model: super::BaseModel = "tc.base_model";
    }
}

tc_metrics! {
    /// Models that are being tuned.
    static MODELS_ACTIVE: UpDownCounter<(keys::base_model,)> = "tc_models_active";
    /// Tokens that were trained on.
    static TOKENS: Counter<(keys::base_model,)> = "tc_train_tokens_total";
    /// How long steps waited for their actor.
    static QUEUE_WAIT: Histogram<(keys::base_model,)> = "tc_queue_wait_seconds";
}

/// A request to an actor. It travels as JSON, with the context.
#[derive(serde::Deserialize, serde::Serialize)]
struct Step {
    model: BaseModel,
    tokens: u64,
    carrier: Carrier,
}

struct Controller {
    actor: mpsc::Sender<(Instant, String)>,
}

#[tc_span(component = "Controller")]
impl Controller {
    /// All spans below have the session and the run, in the actor too.
    #[tc_span(share(keys::session = session, keys::training_run = run), attrs(keys::base_model = model))]
    async fn train(&self, session: &str, run: &str, model: BaseModel) -> Result<(), serde_json::Error> {
        MODELS_ACTIVE.add(1, (model,));
        for request in 1..=2 {
            self.submit_step(request, model).await?;
        }
        MODELS_ACTIVE.add(-1, (model,));
        Ok(())
    }

    #[tc_span(share(keys::request = request))]
    async fn submit_step(&self, request: u64, model: BaseModel) -> Result<(), serde_json::Error> {
        let step = Step { model, tokens: 512 * request, carrier: Carrier::inject() };
        let message = serde_json::to_string(&step)?;
        // Fails only if the actor is gone.
        let _ = self.actor.send((Instant::now(), message)).await;
        Ok(())
    }
}

/// The actor: has only the content of the message.
async fn actor(mut messages: mpsc::Receiver<(Instant, String)>) {
    while let Some((sent, message)) = messages.recv().await {
        let Ok(step) = serde_json::from_str::<Step>(&message) else { continue };
        QUEUE_WAIT.record(sent.elapsed().as_secs_f64(), (step.model,));
        let caller = step.carrier.extract();
        // Baggage may come from anywhere, so it becomes attributes only where code enables it.
        let session = caller.baggage("tc.session.id").unwrap_or_default().into_owned();
        let run = caller.baggage("tc.training_run.id").unwrap_or_default().into_owned();
        let context = caller.with_shared(keys::session, &session).with_shared(keys::training_run, &run);
        // An async function takes its parent when it is called, so the call is inside the context.
        context.run(|| forward_backward(&step)).await;
    }
}

#[tc_span("ModelActor/ForwardBackward", attrs(keys::base_model = step.model))]
#[tc_metric(duration = "tc_train_step_seconds", labels(keys::base_model = step.model))]
async fn forward_backward(step: &Step) {
    tokio::time::sleep(Duration::from_millis(5)).await;
    TOKENS.add(step.tokens, (step.model,));
    optimizer_step().await;
}

/// A span deep below; it has the session too.
#[tc_span("ModelActor/OptimizerStep")]
async fn optimizer_step() {
    tokio::task::yield_now().await;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let telemetry = tracecast::init();
    let (sender, receiver) = mpsc::channel(8);
    let actor: JoinHandle<()> = tokio::spawn(actor(receiver));
    let controller = Controller { actor: sender };
    controller.train("session-ada", "run-1", BaseModel::Llama3).await?;
    controller.train("session-bob", "run-7", BaseModel::Qwen2).await?;
    drop(controller);
    actor.await?;
    println!("two sessions trained; {}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}
