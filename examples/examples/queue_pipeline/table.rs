//! The table: a row per event, with the context of the last worker.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Row, params};
use tracecast::Carrier;
use tracecast::prelude::*;

/// The state of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Detected = 0,
    Quarantined = 1,
    Drained = 2,
    Repaired = 3,
}

/// A row.
pub(crate) struct Event {
    pub(crate) id: i64,
    pub(crate) node: String,
    /// The previous worker's context, without tracestate and baggage, which this table does not need.
    pub(crate) carrier: Carrier,
}

pub(crate) struct Table(Connection);

const CREATE: &str = "create table if not exists health_events (
    id integer primary key, node text not null, state integer not null, traceparent text)";
const INSERT: &str = "insert into health_events (node, state, traceparent) values (?1, ?2, ?3)";
const UPDATE: &str = "update health_events set state = ?2, traceparent = ?3 where id = ?1";
const SELECT: &str = "select id, node, traceparent from health_events where state = ?1";

impl Table {
    pub(crate) fn open(file: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.execute(CREATE, [])?;
        Ok(Table(connection))
    }

    /// Creates a row with the context of the current span.
    #[tc_span(db(system = "sqlite", collection = "health_events", operation = "insert"))]
    pub(crate) fn insert(&self, node: &str, carrier: &Carrier) -> rusqlite::Result<()> {
        self.0.execute(INSERT, params![node, State::Detected as i64, carrier.traceparent]).map(drop)
    }

    /// Moves an event to the next state and stores `carrier` for the next worker.
    #[tc_span(db(system = "sqlite", collection = "health_events", operation = "update"))]
    pub(crate) fn hand_on(&self, event: &Event, state: State, carrier: &Carrier) -> rusqlite::Result<()> {
        self.0.execute(UPDATE, params![event.id, state as i64, carrier.traceparent]).map(drop)
    }

    /// Returns the events of a state. Workers poll this all the time: without a parent no span is recorded.
    #[tc_span(needs_parent, db(system = "sqlite", collection = "health_events", operation = "select"))]
    pub(crate) fn of(&self, state: State) -> rusqlite::Result<Vec<Event>> {
        let mut statement = self.0.prepare(SELECT)?;
        let events = statement.query_map([state as i64], event)?;
        events.collect()
    }

    pub(crate) fn count(&self, state: State) -> rusqlite::Result<usize> {
        self.of(state).map(|events| events.len())
    }
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let carrier = Carrier::new(row.get::<_, Option<String>>(2)?);
    Ok(Event { id: row.get(0)?, node: row.get(1)?, carrier })
}
