//! The servers that clients call, as labels of metrics. A server is known when it has answered, or when it was given to
//! the layer: a program may take names of servers from its own callers.

use std::sync::{Arc, LazyLock};

use crate::learnt::{Entry, Learnt, OTHER, Table};
use crate::sets::Target;

/// A server, identified by its name and port.
#[derive(Debug)]
pub(crate) struct Server(Entry);

impl Learnt for Server {
    const NEW: usize = 64;
    const KNOWN: usize = 256;
    /// The length of a host name with a port.
    const LONGEST: usize = 261;

    fn new(entry: Entry) -> Self {
        Server(entry)
    }

    fn entry(&self) -> &Entry {
        &self.0
    }

    fn is_learnable(&self) -> bool {
        !matches!(parts(self.0.text()).0, "" | OTHER)
    }
}

static SERVERS: LazyLock<Table<Server>> = LazyLock::new(Table::new);

/// Finds a server by its name and port.
pub(crate) fn find((address, port): (&str, Option<u16>)) -> Arc<Server> {
    // Each server has exactly one text, because neither a port nor a host name contains a space.
    let port = port.map_or_else(String::new, |port| port.to_string());
    SERVERS.find(0, &format!("{port} {address}"))
}

/// Keeps the name of a server that has answered.
pub(crate) fn learn(server: &Server) {
    SERVERS.learn(server);
}

/// A server as a part of a set of labels.
pub(crate) fn target(server: &Server) -> Target {
    Target::of(server.0.number())
}

/// Returns the target's name and port: both empty for `None`; `_OTHER` without a port for an unknown server.
pub(crate) fn text(target: Target) -> (String, String) {
    let known = match target {
        Target::None => return (String::new(), String::new()),
        Target::Other => None,
        Target::Known(number) => SERVERS.text(number),
    };
    let (address, port) = known.as_deref().map_or((OTHER, ""), parts);
    (address.to_owned(), port.to_owned())
}

fn parts(text: &str) -> (&str, &str) {
    text.split_once(' ').map_or(("", ""), |(port, address)| (address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(server: &Server) -> (String, String) {
        text(target(server))
    }

    #[test]
    fn a_server_has_its_name_once_it_has_answered() {
        for (address, port, text) in
            [("store.servers.test", Some(50051), "50051"), ("::1", Some(1), "1"), ("no-port.test", None, "")]
        {
            let server = find((address, port));
            assert_eq!(told(&server), (OTHER.into(), String::new()), "{address}");
            learn(&server);
            assert_eq!(told(&find((address, port))), (address.into(), text.into()));
        }
        assert_eq!(text(Target::None), (String::new(), String::new()));
    }

    #[test]
    fn what_looks_like_no_server_is_never_known() {
        for address in ["", OTHER, &"x".repeat(300)] {
            let server = find((address, Some(1)));
            learn(&server);
            assert_eq!(told(&server).0, OTHER, "{address}");
        }
    }
}
