//! Starts, replaces and stops the server for scrapers when the configuration changes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::WeakUnboundedSender;

use super::points::Readings;
use super::route::Receiver;
use super::signal_pipeline::Setup;
use super::{Command, settle};
use crate::config::ScrapeAddress;
use crate::declare::value::OwnedValue;
use crate::encode::resource::EncodedResource;
use crate::export::scrape::{Scraped, Serve, Server};
use crate::export::self_metrics;

/// The server for scrapers, and everything needed to start it.
pub(super) struct Scraping {
    resource: Arc<[(String, OwnedValue)]>,
    commands: WeakUnboundedSender<Command>,
    scraped: Option<Arc<Scraped>>,
    address: Option<ScrapeAddress>,
    paused: bool,
    server: Option<Server>,
}

impl Scraping {
    pub(super) fn new(resource: &EncodedResource, commands: WeakUnboundedSender<Command>) -> Self {
        let resource = resource.attributes.clone().into();
        Scraping { resource, commands, scraped: None, address: None, paused: false, server: None }
    }

    /// Applies a change: takes the scrape address out of the receivers, and serves there. The other receivers are left
    /// for the pipeline.
    pub(super) fn change(&mut self, setup: &mut Setup<Readings>) {
        if let Some(readings) = &setup.feed {
            self.scraped = Some(readings.scraped.clone());
        }
        if let Some(receivers) = &mut setup.receivers {
            self.address = None;
            receivers.retain(|receiver| match receiver {
                Receiver::Prometheus(address) => {
                    self.address = Some(address.clone());
                    false
                }
                _ => true,
            });
        }
        self.apply();
    }

    /// Pauses or resumes the server. The port is closed while metrics are paused, because frozen values would look
    /// current.
    pub(super) fn pause(&mut self, paused: bool) {
        self.paused = paused;
        self.apply();
    }

    fn apply(&mut self) {
        let address = self.address.as_ref().filter(|_| !self.paused);
        if self.server.as_ref().map(|server| &server.address) == address {
            return;
        }
        self.server = address.zip(self.scraped.as_ref()).map(|(address, scraped)| {
            let commands = self.commands.clone();
            // The export thread accepts the connection, so it is not stuck.
            let settle = move || {
                self_metrics::stalled(Duration::ZERO);
                commands.upgrade().iter().for_each(settle);
            };
            let (address, scraped) = (address.clone(), scraped.clone());
            Server::start(Serve { address, scraped, resource: self.resource.clone(), settle: Arc::new(settle) })
        });
    }
}
