//! Configurations are read from variables, files and the application's own. Nothing is started, and no test changes the environment.
#![cfg(feature = "otlp")]

mod from_a_file;
mod in_the_book;
mod keeps_secrets;
mod of_a_named_file;
mod of_deploy_files;
mod of_each_variable;
mod of_the_application;
mod published_shapes;
mod what_beats_what;
mod yaml;
