//! Runs each example as a program of its own, and looks at what it says and exports. Nothing is started in this process.

mod support;

mod axum_service;
mod dashboards;
mod demo;
mod everything;
mod existing_tracing;
mod gpu_node;
#[cfg(unix)]
mod graceful_shutdown;
mod grpc_streams;
mod queue_pipeline;
mod quickstart;
mod relay;
mod smoke;
mod stalls;
mod training_controller;
