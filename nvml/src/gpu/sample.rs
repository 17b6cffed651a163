//! A sample: the answers of a GPU to one round of queries.

use nvml_wrapper::bitmasks::device::ThrottleReasons;

/// The most MIG instances of a GPU.
pub(crate) const MOST_INSTANCES: usize = 8;
/// Kinds of errors of all NVLinks of a GPU together.
pub(crate) const LINK_ERRORS: usize = 4;
/// The most NVLinks of a GPU.
pub(crate) const MOST_LINKS: usize = 18;
/// Kinds of errors of one NVLink.
pub(crate) const ONE_LINK_ERRORS: usize = 6;
/// Parts of a GPU whose activity GPM measures.
pub(crate) const PARTS: usize = 8;
/// Reasons for lowered clocks whose durations the driver counts.
pub(crate) const VIOLATIONS: usize = 6;
/// Temperature thresholds.
pub(crate) const LIMITS: usize = 4;

/// Used, total and reserved memory in bytes. If the driver's reserved memory is unknown, `used` includes it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) used: u64,
    pub(crate) total: u64,
    pub(crate) reserved: Option<u64>,
}

/// The activity of parts of a GPU or of a MIG instance, in percent.
pub(crate) type Activity = [Option<f64>; PARTS];

/// The answers of a GPU. `None` is a gap. Units are NVML's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Utilization of the GPU and of its memory, in percent.
    pub(crate) utilization: Option<(u32, u32)>,
    /// Utilization of the video encoder, in percent.
    pub(crate) encoder: Option<u32>,
    pub(crate) decoder: Option<u32>,
    pub(crate) memory: Option<Memory>,
    pub(crate) instances: [Option<Instance>; MOST_INSTANCES],
    pub(crate) temperature: Option<u32>,
    pub(crate) memory_temperature: Option<u64>,
    pub(crate) temperature_limits: [Option<u32>; LIMITS],
    /// Power draw, in milliwatts.
    pub(crate) power: Option<u32>,
    pub(crate) power_limit: Option<u32>,
    /// Energy used since an unspecified time, in millijoules.
    pub(crate) energy: Option<u64>,
    /// Clock of the streaming multiprocessors, in megahertz.
    pub(crate) clock_sm: Option<u32>,
    pub(crate) clock_memory: Option<u32>,
    pub(crate) throttle: Option<ThrottleReasons>,
    /// Time of lowered clocks by reason, in nanoseconds since an unspecified time.
    pub(crate) violations: [Option<u64>; VIOLATIONS],
    pub(crate) wear: Wear,
    pub(crate) replays: Option<u32>,
    /// Bytes sent and received over PCIe, since an unspecified time.
    pub(crate) pcie_bytes: [Option<u64>; 2],
    pub(crate) processes: Option<u32>,
    /// Bytes of GPU memory that this process uses.
    pub(crate) own_memory: Option<u64>,
    /// PCIe transfer rates, sent and received, in kilobytes per second.
    pub(crate) throughput: [Option<u32>; 2],
    pub(crate) details: Details,
    pub(crate) links: Links,
    pub(crate) activity: Activity,
}

/// Errors and damage of a GPU, as its driver counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wear {
    /// Corrected and uncorrected errors of memory: volatile, then aggregate.
    pub(crate) ecc: [[Option<u64>; 2]; 2],
    /// Errors of the on-chip memory, in the order of `ecc`.
    pub(crate) sram: [[Option<u64>; 2]; 2],
    pub(crate) sram_exceeded: Option<bool>,
    pub(crate) remapped: [Option<u64>; 4],
    /// Pages retired after single and after double bit errors.
    pub(crate) retired: [Option<u64>; 2],
    pub(crate) retired_pending: Option<u64>,
    /// NVML's number of the recovery action.
    pub(crate) recovery_action: Option<u64>,
}

/// A MIG instance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instance {
    pub(crate) memory: Option<Memory>,
    pub(crate) uuid: Text,
    /// The product name, which ends in the profile.
    pub(crate) name: Text,
    pub(crate) activity: Activity,
}

/// Values that are queried only if `Config::with_details` is on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Details {
    /// Speed of the first fan, in percent of its maximum.
    pub(crate) fan: Option<u32>,
    pub(crate) performance_state: Option<u32>,
    pub(crate) link_generation: Option<u32>,
    pub(crate) link_width: Option<u32>,
}

/// The NVLinks of a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Links {
    pub(crate) count: Option<u64>,
    /// Sent and received over all links, in kibibytes since an unspecified time.
    pub(crate) moved: [Option<u64>; 2],
    /// Errors of all links by kind, since an unspecified time.
    pub(crate) errors: [Option<u64>; LINK_ERRORS],
    pub(crate) each: [Link; MOST_LINKS],
}

/// One NVLink.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    /// 1 if the link is up.
    pub(crate) state: Option<u64>,
    /// Errors by kind, since an unspecified time.
    pub(crate) errors: [Option<u64>; ONE_LINK_ERRORS],
}

/// A short text of the driver, stored without an allocation. A longer text is truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text([u8; Text::MOST]);

impl Text {
    /// The size of the buffer, longer than any UUID or product name.
    pub(crate) const MOST: usize = 96;

    /// Creates a text that ends at the first zero.
    pub(crate) fn new(bytes: [u8; Self::MOST]) -> Self {
        Text(bytes)
    }

    pub(crate) fn as_str(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(Self::MOST);
        let text = &self.0[..end];
        std::str::from_utf8(text).or_else(|error| std::str::from_utf8(&text[..error.valid_up_to()])).unwrap_or_default()
    }
}

impl Default for Text {
    fn default() -> Self {
        Text([0; Self::MOST])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_its_zero_and_where_it_is_no_text() {
        let check = |bytes: &[u8], expected| {
            let mut all = [0; Text::MOST];
            all[..bytes.len()].copy_from_slice(bytes);
            assert_eq!(Text::new(all).as_str(), expected);
        };
        check(b"MIG-1\0rest", "MIG-1");
        check(b"", "");
        check(b"MIG\xff-1", "MIG");
        check(&[b'a'; Text::MOST], &"a".repeat(Text::MOST));
    }
}
