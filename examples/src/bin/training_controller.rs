//! A controller of training runs: identifiers that every span has, on both sides of a boundary.
//!
//! Filter by a session and see all of its work, whoever did it. A key in `share(..)` is on every span below; one that is
//! declared `{ baggage }` also travels with the context, here in the message to an actor. Identifiers are on spans only;
//! metrics have labels with few values, so that they stay small however many sessions there are.

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
        /// What a user does, from beginning to end.
        pub id session: str = "tc.session.id" { baggage };
        /// One training run of it.
        pub id training_run: str = "tc.training_run.id" { baggage };
        /// One request of that. It stays in this process.
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

/// What the controller asks an actor to do. It travels as JSON, the context with it.
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
    /// All below has the session and the run, in the actor too.
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
        // An actor that is gone has nothing to do.
        let _ = self.actor.send((Instant::now(), message)).await;
        Ok(())
    }
}

/// The actor: it knows nothing but what the message says.
async fn actor(mut messages: mpsc::Receiver<(Instant, String)>) {
    while let Some((sent, message)) = messages.recv().await {
        let Ok(step) = serde_json::from_str::<Step>(&message) else { continue };
        QUEUE_WAIT.record(sent.elapsed().as_secs_f64(), (step.model,));
        let caller = step.carrier.extract();
        // Baggage becomes attributes where somebody says so: it may come from anywhere.
        let session = caller.baggage("tc.session.id").unwrap_or_default().into_owned();
        let run = caller.baggage("tc.training_run.id").unwrap_or_default().into_owned();
        let context = caller.with_shared(keys::session, &session).with_shared(keys::training_run, &run);
        // The parent is taken where an async function is called, so the call is in the context.
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

/// Far below, and still it has the session.
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
