//! Label sets as labels with several parts.

use std::borrow::Cow;

use http::uri::Authority;
use tracecast::{Key, Label};

use super::conventions::{self, error_type, request_method, response_status_code, server_address, server_port};
use super::describe;
use super::endpoint::ENDPOINTS;
use super::failure::Error;
use super::protocol::Protocol;
use super::set::Set;
use crate::learnt::OTHER;
use crate::sets::{OVERFLOW, Sets, Target};
use crate::side::Side;

/// The class of the status, such as `2xx`: a part of the brief label sets.
const STATUS_CLASS: &str = "tc.http.status_class";

/// A part of a label set.
#[derive(Clone, Copy)]
enum Part {
    Method,
    Route,
    Server,
    Port,
    Status,
    StatusClass,
    Scheme,
    Version,
    Error,
}

impl Part {
    /// Returns the name of the attribute.
    const fn name(self) -> &'static str {
        match self {
            Part::Method => request_method::META.name,
            Part::Route => conventions::route::META.name,
            Part::Server => server_address::META.name,
            Part::Port => server_port::META.name,
            Part::Status => response_status_code::META.name,
            Part::StatusClass => STATUS_CLASS,
            Part::Scheme => conventions::url_scheme::META.name,
            Part::Version => conventions::protocol_version::META.name,
            Part::Error => error_type::META.name,
        }
    }

    /// Returns the part's text in a set, empty if the set has none.
    fn text(self, side: Side, set: Set) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Part::Method => set.verb.text(),
            Part::Route => return target(side, set).into(),
            Part::Server => return server(side, set).0.into(),
            Part::Port => return server(side, set).1.map_or_else(String::new, |port| port.to_string()).into(),
            Part::Status | Part::StatusClass if set.status == 0 => "",
            Part::Status => return set.status.to_string().into(),
            Part::StatusClass => return format!("{}xx", set.status).into(),
            Part::Scheme => set.protocol.map_or("", Protocol::scheme),
            Part::Version => set.protocol.and_then(Protocol::version).unwrap_or_default(),
            Part::Error => match set.error {
                Some(Error::Status(status)) => return status.as_str().to_owned().into(),
                Some(Error::Failure(failure)) => failure.text(),
                None => "",
            },
        })
    }
}

/// Declares a label whose values are the sets seen so far.
macro_rules! label {
    ($(#[$doc:meta])* $name:ident of $side:ident, up to $room:literal: $($part:ident),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(u32);

        impl $name {
            const ALL: &'static [Part] = &[$(Part::$part),+];

            pub(crate) fn of(set: Set) -> Self {
                $name($name::sets().place(set.word()) as u32)
            }

            fn sets() -> &'static Sets<$room> {
                static SEEN: Sets<$room> = Sets::new();
                &SEEN
            }
        }

        impl Label for $name {
            const CARDINALITY: usize = $room + 1;
            const PARTS: &'static [&'static str] = &[$(Part::$part.name(),)+ OVERFLOW];
            const LEARNT: bool = true;

            fn ordinal(self) -> usize {
                self.0 as usize
            }

            fn value(ordinal: usize) -> Cow<'static, str> {
                let parts = (0..Self::PARTS.len()).map(|part| Self::part(ordinal, part));
                Cow::Owned(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
            }

            fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
                match ($name::sets().get(ordinal), $name::ALL.get(part)) {
                    (Some(word), Some(part)) => part.text(Side::$side, Set::of_word(word)),
                    (None, None) => Cow::Borrowed("true"),
                    _ => Cow::Borrowed(""),
                }
            }
        }
    };
}

label! {
    /// The conventional labels of requests that were served.
    Served of Server, up to 1024: Method, Route, Status, Scheme, Version, Error
}

label! {
    /// The conventional labels of requests that were made.
    Called of Client, up to 1024: Method, Server, Port, Status, Scheme, Version, Error
}

label! {
    /// A few labels of requests that were served.
    BrieflyServed of Server, up to 512: Method, Route, StatusClass
}

label! {
    /// A few labels of requests that were made.
    BrieflyCalled of Client, up to 512: Method, Server, Port, StatusClass
}

fn target(side: Side, set: Set) -> String {
    match set.target {
        Target::None => String::new(),
        Target::Other => OTHER.to_owned(),
        Target::Known(number) => ENDPOINTS.of(side).text(number).map_or_else(|| OTHER.to_owned(), String::from),
    }
}

/// Returns a server's name and port. Without a scheme in the set, a default port is left out.
fn server(side: Side, set: Set) -> (String, Option<u16>) {
    let target = target(side, set);
    match target.parse::<Authority>() {
        Ok(server) if target != OTHER => {
            let port = server.port_u16().or_else(|| set.protocol.map(Protocol::port));
            (describe::host(&server).to_owned(), port)
        }
        _ => (target, None),
    }
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode, Version};

    use super::super::failure::Failure;
    use super::super::method::Verb;
    use super::*;

    fn verb() -> Verb {
        Verb::of(&Method::PATCH)
    }

    fn known(side: Side, target: &str) -> Target {
        let endpoints = ENDPOINTS.of(side);
        let endpoint = endpoints.find(verb().index(), target);
        endpoints.learn(&endpoint);
        endpoint.number().map_or(Target::Other, Target::Known)
    }

    fn set(target: Target) -> Set {
        let protocol = Some(Protocol::new(true).with_version(Version::HTTP_11));
        Set {
            verb: verb(),
            target,
            status: 500,
            error: Some(Error::Status(StatusCode::INTERNAL_SERVER_ERROR)),
            protocol,
        }
    }

    #[track_caller]
    fn check<L: Label>(label: L, expected: &[&str]) {
        let parts: Vec<_> = (0..L::PARTS.len()).map(|part| L::part(label.ordinal(), part)).collect();
        assert_eq!(parts, expected);
    }

    #[test]
    fn each_part_of_a_set_is_an_attribute_or_left_out() {
        let route = known(Side::Server, "/labels/{id}");
        check(Served::of(set(route)), &["PATCH", "/labels/{id}", "500", "https", "1.1", "500", ""]);
        check(BrieflyServed::of(set(route).brief()), &["PATCH", "/labels/{id}", "5xx", ""]);
        let failed = Set { status: 0, error: Some(Error::Failure(Failure::Refused)), ..set(Target::None) };
        check(Served::of(failed), &["PATCH", "", "", "https", "1.1", "connection_refused", ""]);
        check(
            Served::of(Set { error: None, ..set(Target::Other) }),
            &["PATCH", "_OTHER", "500", "https", "1.1", "", ""],
        );
    }

    #[test]
    fn parts_have_the_names_of_the_attributes() {
        let served = [
            "http.request.method",
            "http.route",
            "http.response.status_code",
            "url.scheme",
            "network.protocol.version",
            "error.type",
            "otel.metric.overflow",
        ];
        assert_eq!(Served::PARTS, served);
        assert_eq!(BrieflyCalled::PARTS[1..4], ["server.address", "server.port", "tc.http.status_class"]);
    }

    #[test]
    fn a_server_has_a_port() {
        let written = known(Side::Client, "labels.test:8443");
        check(Called::of(set(written)), &["PATCH", "labels.test", "8443", "500", "https", "1.1", "500", ""]);
        check(BrieflyCalled::of(set(written).brief()), &["PATCH", "labels.test", "8443", "5xx", ""]);
        let implied = known(Side::Client, "[::1]");
        check(Called::of(set(implied)), &["PATCH", "::1", "443", "500", "https", "1.1", "500", ""]);
        check(BrieflyCalled::of(set(implied).brief()), &["PATCH", "::1", "", "5xx", ""]);
        check(Called::of(set(Target::Other)), &["PATCH", "_OTHER", "", "500", "https", "1.1", "500", ""]);
    }

    #[test]
    fn what_finds_no_room_is_counted_together() {
        label! {
            /// A label whose table is full.
            Small of Server, up to 64: Route
        }
        let ordinals: std::collections::HashSet<_> =
            (0..1000).map(|status| Small::of(Set { status, ..set(Target::None) }).ordinal()).collect();
        assert_eq!((ordinals.len(), Small::CARDINALITY), (65, 65));
        assert_eq!([Small::part(64, 0), Small::part(64, 1)], ["", "true"]);
        assert_eq!(Small::value(64), "true");
    }
}
