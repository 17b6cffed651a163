//! The floor of a server's layer, beside no layer.

use tower_layer::{Identity, Layer};

use super::case::Case;
use super::direct::{self, Trivial};
use super::floor::Floor;
use super::variants::{SAMPLED, nothing};

macro_rules! layer {
    ($layer:expr) => {
        |calls| direct::call(&mut $layer.layer(Trivial(1)), SAMPLED, calls)
    };
}

const NONE: &str = "floor: no layer";

pub const CASES: &[Case] = &[
    Case::new(NONE, NONE, nothing, layer!(Identity::new())),
    Case::new("floor: both bodies followed, clock read twice", NONE, nothing, layer!(Floor::<true>)),
    Case::new("floor: response followed", NONE, nothing, layer!(Floor::<false>)),
];
