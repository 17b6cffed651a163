//! In a process of its own, because what is learnt is learnt for the process: peers invent a hundred thousand methods, routes and
//! servers until the tables are full, and there are no more series and names than before.

mod grpc;
mod http;
#[path = "../support/mod.rs"]
mod support;
