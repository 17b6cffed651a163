//! Runs the fleet, from the first process to the end of the last.

use std::path::PathBuf;
use std::time::Instant;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tracecast_nvml_fake::Fake;

use super::account::Account;
use super::process::{Ended, Process, Said};
use super::{FIRST, SECOND};
use crate::store::{Failure, LISTENING};

/// The GPUs of a daemon, with changing values.
const GPUS: &str = "gpus = 2\n";
/// The same GPUs later, when one reports an error.
const SICK_GPU: &str = "gpus = 2\nxid = 1:1:31\n";
/// The output of the daemon that works on the last request. The daemon then gets SIGTERM.
const LAST: &str = "materializing gemma-2-9b";

pub(crate) struct Fleet {
    /// The OTLP endpoint, unless the environment sets one.
    endpoint: Option<String>,
    began: Instant,
    tell: UnboundedSender<Said>,
    said: UnboundedReceiver<Said>,
}

/// The end of the fleet.
pub(crate) struct Outcome {
    pub(crate) ended: Vec<Ended>,
    /// The client's output.
    pub(crate) story: Vec<String>,
}

impl Outcome {
    /// Returns each process's account of its spans.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = (&'static str, Option<Account>)> {
        self.ended.iter().map(|ended| (ended.name, Account::find(&ended.errors)))
    }

    pub(crate) fn total(&self) -> Account {
        self.accounts().filter_map(|(_, account)| account).fold(Account::default(), |sum, account| sum + account)
    }
}

impl Fleet {
    pub(crate) fn new(endpoint: Option<String>) -> Self {
        let (tell, said) = mpsc::unbounded_channel();
        Fleet { endpoint, began: Instant::now(), tell, said }
    }

    /// Starts all processes, waits for the client, and stops the others in order.
    pub(crate) async fn run(mut self) -> Result<Outcome, Failure> {
        let (fakes, disk) = ([Fake::new(GPUS)?, Fake::new(GPUS)?], Folder::new()?);
        let (global_store, global) = self.serve("global-store", &["global-store"]).await?;
        let mut daemons = Vec::new();
        for (name, fake) in [FIRST, SECOND].into_iter().zip(&fakes) {
            let (nvml, folder) = (fake.library(), disk.0.join(name));
            let role = ["daemon", name, &global, &nvml.to_string_lossy(), &folder.to_string_lossy()];
            daemons.push(self.serve(name, &role).await?);
        }
        let addresses: Vec<_> = daemons.iter().map(|(_, address)| address.clone()).collect();
        let client = self.start("client", &["client", &global, &addresses[0], &addresses[1]])?;
        let processes: Vec<_> = daemons.into_iter().map(|(process, _)| process).collect();
        let story = self.follow(&processes[1], &fakes[1]).await?;

        let mut ended = vec![client.ended().await?];
        for process in processes.into_iter().rev().chain([global_store]) {
            if process.name != SECOND {
                self.show(process.name, "gets SIGTERM");
                process.terminate().await?;
            }
            let end = process.ended().await?;
            self.show(end.name, &format!("ended with {}", end.code.map_or("a signal".into(), |code| code.to_string())));
            ended.push(end);
        }
        Ok(Outcome { ended, story })
    }

    fn start(&self, name: &'static str, role: &[&str]) -> Result<Process, Failure> {
        Ok(Process::start(name, role, self.endpoint.as_deref(), self.tell.clone())?)
    }

    /// Starts a server and waits until it prints its address.
    async fn serve(&mut self, name: &'static str, role: &[&str]) -> Result<(Process, String), Failure> {
        let process = self.start(name, role)?;
        while let Some(Said { process: by, line: Some(line) }) = self.said.recv().await {
            self.show(by, &line);
            if let Some(address) = line.strip_prefix(LISTENING).filter(|_| by == name) {
                return Ok((process, address.to_owned()));
            }
        }
        let errors = process.ended().await?.errors.join("\n");
        Err(format!("{name} exited during start-up: {errors}").into())
    }

    /// Prints all output until the client is done, and stops a daemon in the middle of its work.
    async fn follow(&mut self, last: &Process, gpus: &Fake) -> Result<Vec<String>, Failure> {
        let (mut story, mut told) = (Vec::new(), false);
        while let Some(Said { process, line }) = self.said.recv().await {
            let Some(line) = line else { if process == "client" { break } else { continue } };
            self.show(process, &line);
            if process == last.name && line.starts_with(LAST) {
                self.show(process, "gets SIGTERM and drains");
                last.terminate().await?;
                told = true;
            }
            if process == "client" {
                gpus.script(SICK_GPU)?;
                story.push(line);
            }
        }
        // Without that line the client has failed, and the daemon still has to stop.
        if !told {
            last.terminate().await?;
        }
        Ok(story)
    }

    fn show(&self, process: &str, line: &str) {
        println!("{:>7.2} s  {process:<12} {line}", self.began.elapsed().as_secs_f64());
    }
}

/// A folder that is removed after the demo.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let folder = Folder(std::env::temp_dir().join(format!("tracecast-demo-{}", std::process::id())));
        std::fs::create_dir_all(&folder.0)?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
