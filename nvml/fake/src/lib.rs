//! A fake `libnvidia-ml.so`: NVML's C ABI, with values and faults from a script.
//!
//! The real nvml-wrapper loads the shared library, by path or as `libnvidia-ml.so.1`. Without a script there are two
//! GPUs whose values change over time. The script is the file `<library>.script` beside the library, or else the
//! variable `TC_FAKE_NVML`; lines end with a line break or `;`. The script is read again at each call, so faults can
//! start and end.
//!
//! ```text
//! gpus = 2
//! driver = 580.82.07
//! generation = 1                        # another one makes all handles invalid, as a driver reload does
//! fail.nvmlInit_v2 = 18                 # the code that a call of the library returns
//! hang.nvmlInit_v2 = 30                 # seconds that a call of the library takes, unless the script changes
//! gpu1.fail = 15                        # the code that every call for this GPU returns
//! gpu1.fail.nvmlDeviceGetPowerUsage = 3 # the code that one call returns
//! gpu1.hang = 30                        # seconds that every call for this GPU takes, unless the script changes
//! gpu0.temperature = 61                 # a value, in NVML's unit; see `value::DEFAULTS` for the names
//! gpu0.uuid = GPU-5a3c                  # another GPU at this index
//! gpu0.mig = 3                          # MIG is on, with this many instances
//! gpu0.link_state.3 = 0                 # a value of one link, or of one MIG instance (`gpu0.active_sm.2`, from 1)
//! xid = 1:0:79 2-3000:1:31              # events, as number:gpu:xid; each is delivered once, a range as often as it has numbers
//! event_pause = 0.01                    # seconds between two checks for events
//! ```
//!
//! `gpu0.fail.temperature = 3` makes the value fail with this code in every function that returns the value.
//!
//! [`record()`] queries a real driver and writes such a script, which [`Fake::replay`] plays back.
//!
//! [`Fake`] is for tests: a copy of the library with its own script, so that tests do not affect each other. A copy can have the
//! functions of an older or a newer driver: see [`Driver`].

mod abi;
mod events;
mod kit;
mod record;
mod script;
mod value;

pub use crate::kit::{Driver, Fake, built_library};
pub use crate::record::record;
