//! The main loop of the export thread: runs the pipelines and executes commands.

mod account;

use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};

use super::activity::Activity;
use super::losses::Losses;
use super::outbox::Pool;
use super::points::Points;
#[cfg(has_logs)]
use super::records::{RecordContent, Records};
use super::route::Routes;
use super::scraping::Scraping;
use super::signal_pipeline::{AnyPipeline, Found, Pipeline};
use super::spans::{Spans, Waiting};
use super::{Change, Command, Plan, Progress};
use crate::config::Signal;

/// The interval of taking spans. The recorder's memory is bounded, so this limits the rate of spans.
const TAKE_EVERY: Duration = Duration::from_millis(200);
/// The interval while no spans end, so that an idle program is woken rarely. A burst has to exceed half a million spans
/// a second to fill the recorder before the next take.
const TAKE_IDLE: Duration = Duration::from_millis(500);
/// The delay before taking again when items are left.
const ROOM: Duration = Duration::from_millis(1);
/// The maximum time that a shutdown reserves for writing to disk.
const RESERVE: Duration = Duration::from_secs(1);
/// The minimum time for checking the spool, even after the deadline.
const VERIFIES: Duration = Duration::from_millis(50);
/// The shortest idle interval, however short the delay of batches is.
const IDLE_LEAST: Duration = Duration::from_millis(100);
/// The longest interval of readings of metrics that is passed to a timer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) struct Pipelines {
    latest: Arc<Mutex<Progress>>,
    pool: Rc<Pool>,
    memory_limit: usize,
    losses: Losses,
    activity: Arc<Activity>,
    spans: Pipeline<Spans>,
    points: Pipeline<Points>,
    #[cfg(has_logs)]
    records: Pipeline<Records>,
    scraping: Scraping,
}

/// Options of the flush at a shutdown.
#[derive(Clone, Copy)]
struct Last {
    /// True if open spans are exported as unfinished.
    unfinished: bool,
}

impl Pipelines {
    pub(super) fn new(
        plan: Plan,
        latest: Arc<Mutex<Progress>>,
        activity: Arc<Activity>,
        commands: WeakUnboundedSender<Command>,
    ) -> Self {
        #[cfg_attr(not(has_logs), expect(unused_variables, reason = "there are no logs"))]
        let Plan { resource, redact, memory_limit, log_queue } = plan;
        let (pool, scraping) = (Pool::within(memory_limit), Scraping::new(&resource, commands));
        let spans = Pipeline::new(Spans::new(redact.clone()), Waiting::new(&resource), resource.clone(), pool.clone());
        #[cfg(has_logs)]
        let records = {
            let source = Records::new(pool.clone(), log_queue);
            Pipeline::new(source, RecordContent::new(&resource), resource.clone(), pool.clone())
        };
        let points = Pipeline::new(Points::new(redact), None, resource, pool.clone());
        Pipelines {
            latest,
            pool,
            memory_limit,
            losses: Losses::default(),
            activity,
            spans,
            points,
            #[cfg(has_logs)]
            records,
            scraping,
        }
    }

    /// The pipelines of all signals.
    fn pipelines(&self) -> impl Iterator<Item = &dyn AnyPipeline> {
        let all = [
            &self.spans as &dyn AnyPipeline,
            &self.points,
            #[cfg(has_logs)]
            &self.records,
        ];
        all.into_iter()
    }

    fn pipelines_mut(&mut self) -> impl Iterator<Item = &mut dyn AnyPipeline> {
        let all = [
            &mut self.spans as &mut dyn AnyPipeline,
            &mut self.points,
            #[cfg(has_logs)]
            &mut self.records,
        ];
        all.into_iter()
    }

    fn routes(&self) -> impl Iterator<Item = &Routes> {
        self.pipelines().map(AnyPipeline::routes)
    }

    /// Runs until the shutdown.
    pub(super) async fn run(mut self, mut commands: UnboundedReceiver<Command>) {
        let mut next_take = tokio::time::Instant::now() + self.pause(Found::Some);
        let mut collect = ticks(self.points.delay().min(LONGEST));
        loop {
            self.activity.progress();
            let filling = self.filling();
            tokio::select! {
                command = commands.recv() => match command {
                    Some(Command::Change(change)) => {
                        let interval = self.points.delay();
                        self.change(*change);
                        next_take = tokio::time::Instant::now() + self.pause(Found::Some);
                        if self.points.delay() != interval {
                            collect = ticks(self.points.delay().min(LONGEST));
                        }
                    }
                    Some(Command::Answer(answer)) => {
                        self.points.source.update(self.figures());
                        // Sending an answer fails if the caller has timed out.
                        let _ = answer.send(());
                    }
                    Some(Command::Flush(deadline, answer)) => {
                        let _ = answer.send(self.flush(deadline, None).await);
                    }
                    Some(Command::Shutdown(deadline, answer, unfinished)) => {
                        self.pipelines().for_each(AnyPipeline::close);
                        let _ = answer.send(self.flush(deadline, Some(Last { unfinished })).await);
                        return;
                    }
                    None => return,
                },
                () = tokio::time::sleep_until(next_take), if self.takes() => {
                    let found = self.look();
                    next_take = tokio::time::Instant::now() + self.pause(found);
                }
                () = filling => next_take = tokio::time::Instant::now(),
                _ = collect.tick(), if self.points.is_pushed() => self.collect(Duration::MAX),
            }
        }
    }

    /// Returns the delay before taking again, by the result of the last take.
    fn pause(&self, found: Found) -> Duration {
        let polled = self.pipelines().filter(|pipeline| pipeline.is_polled());
        let delay = polled.map(AnyPipeline::delay).min().unwrap_or(Duration::MAX);
        let time = match found {
            Found::Nothing => TAKE_IDLE,
            Found::Some => TAKE_EVERY,
            Found::More => ROOM,
        };
        // An idle program is not woken often, even if batches have no delay.
        let least = if found == Found::Nothing { IDLE_LEAST } else { ROOM };
        time.min(delay).max(least)
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Traces(traces) => self.spans.change(traces),
            Change::Metrics(mut metrics) => {
                self.scraping.change(&mut metrics);
                self.points.change(metrics);
            }
            #[cfg(has_logs)]
            Change::Logs(logs) => self.records.change(logs),
            Change::Pause(Signal::Metrics, paused) => {
                self.points.source.paused = paused;
                self.scraping.pause(paused);
            }
            // Spans and log records from before the pause are still taken.
            Change::Pause(..) => {}
        }
    }

    /// Waits until a burst of log records begins to fill their queue. Never completes if no records are queued.
    fn filling(&self) -> impl Future<Output = ()> + use<> {
        #[cfg(has_logs)]
        let filling = self.records.source.filling();
        #[cfg(not(has_logs))]
        let filling = None::<Arc<tokio::sync::Notify>>;
        async move {
            match filling {
                Some(filling) => filling.notified().await,
                None => std::future::pending().await,
            }
        }
    }

    /// True if a pipeline has items to take regularly.
    fn takes(&self) -> bool {
        self.pipelines().any(AnyPipeline::is_polled)
    }

    /// Takes new items, and reports losses.
    fn look(&mut self) -> Found {
        self.pool.shrink();
        let found = self.take(false);
        self.note();
        self.losses.report(&self.figures().dropped);
        found
    }

    /// Takes items of all signals.
    fn take(&mut self, urgent: bool) -> Found {
        self.pipelines_mut().map(|pipeline| pipeline.take(urgent)).max().unwrap_or(Found::Nothing)
    }

    fn collect(&mut self, patience: Duration) {
        self.points.collect(patience, self.figures());
        self.losses.report(&self.figures().dropped);
    }

    async fn store_rest(&self) {
        for routes in self.routes() {
            routes.store_rest().await;
        }
    }

    /// Checks the files on disk, so that the report counts removed ones as lost.
    async fn verify(&self) {
        for routes in self.routes() {
            routes.verify().await;
        }
    }

    async fn settled(&self) {
        for routes in self.routes() {
            routes.settled().await;
        }
    }

    async fn emptied(&self) {
        for routes in self.routes() {
            routes.emptied().await;
        }
    }

    /// Takes all items, and waits until they are sent.
    async fn sent(&mut self) {
        loop {
            if self.take(true) == Found::More {
                tokio::time::sleep(ROOM).await;
            } else if tokio::time::timeout(TAKE_EVERY, self.emptied()).await.is_ok() {
                return;
            }
            // Requests are still pending: takes again, so that new items do not fill the memory.
        }
    }

    /// Stores requests on disk that cannot be sent, and then items that had no room in memory before.
    async fn store_all(&mut self) {
        self.store_rest().await;
        while self.take(true) == Found::More {
            self.store_rest().await;
        }
        self.store_rest().await;
    }

    /// Takes and sends all items, until the deadline, and returns the progress. At a shutdown (`last`), stores unsent
    /// requests on disk if there is a spool, and shuts custom exporters down.
    async fn flush(&mut self, deadline: Instant, last: Option<Last>) -> Progress {
        self.note();
        // Failing receivers are retried at once.
        self.routes().for_each(Routes::hurry);
        let left = || deadline.saturating_duration_since(Instant::now());
        // A shutdown reserves time to store requests on disk, if there is a spool.
        let stores = last.is_some() && self.disk_bytes().is_some();
        let reserve = if stores { (left() / 4).min(RESERVE) } else { Duration::ZERO };
        // Metrics are sent last, because they count the exported and lost items, but after half of the time at the
        // latest.
        let _ = tokio::time::timeout(left() / 2, self.sent()).await;
        let open = self.spans.source.open_names();
        if last.is_some_and(|last| last.unfinished) {
            self.spans.take_unfinished();
        }
        // Callbacks get half of the remaining time, so that metrics can still be sent.
        self.collect(left() / 2);
        // Custom exporters are shut down even if a receiver uses up the time.
        let ends =
            if last.is_some() { self.routes().flat_map(|routes| routes.end(deadline)).collect() } else { Vec::new() };
        let all = async {
            self.sent().await;
            for ended in ends {
                let _ = ended.await;
            }
        };
        let mut complete = tokio::time::timeout_at((deadline - reserve).into(), all).await.is_ok();
        if stores && !complete {
            // Requests stored by the deadline are kept, even if others are not stored in time.
            let stored = tokio::time::timeout_at(deadline.into(), self.store_all()).await.is_ok();
            complete = stored && tokio::time::timeout(Duration::ZERO, self.emptied()).await.is_ok();
        } else if stores {
            let _ = tokio::time::timeout_at(deadline.into(), self.settled()).await;
        }
        // A disk that hangs must not delay the answer; listing a directory takes less time than this.
        let _ = tokio::time::timeout(left().clamp(VERIFIES, RESERVE), self.verify()).await;
        if last.is_some() {
            self.losses.report_now(&self.figures().dropped);
        }
        Progress { complete, open, ..self.progress() }
    }
}

/// Makes a ticker. After a late tick, the next one follows a whole interval later.
fn ticks(every: Duration) -> tokio::time::Interval {
    let every = every.max(Duration::from_millis(1));
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks
}
