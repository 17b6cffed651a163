//! Configurations are read from variables, files and the application's own. Nothing is started, and no test changes the environment.
//! What each source sets is tested in the crate, in `config::tests`.
#![cfg(feature = "otlp")]

mod keeps_secrets;
mod of_a_named_file;
