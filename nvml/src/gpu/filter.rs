//! Selects the GPUs that are monitored.

/// The selection of GPUs. A GPU is selected if all lists contain it; without lists all GPUs are selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter(Vec<List>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct List {
    wanted: Vec<Wanted>,
    /// Whether the list numbers the GPUs of the machine. A container may have only the listed GPUs, under other
    /// indices, so a list that has no fewer entries than there are GPUs selects all of them.
    is_of_machine: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Index(u32),
    /// The start of a UUID.
    Uuid(String),
}

impl Filter {
    /// Creates a filter from the program's list; without one, from the variables of the container runtime and of CUDA.
    pub(crate) fn new(devices: Option<&[String]>, nvidia: Option<&str>, cuda: Option<&str>) -> Self {
        if let Some(devices) = devices {
            let parse = |text: &String| Wanted::parse(text).or_else(|| warn("with_devices", text, "it is left out"));
            let wanted = devices.iter().filter_map(parse).collect();
            return Filter(vec![List { wanted, is_of_machine: false }]);
        }
        Filter([nvidia.and_then(of_container), cuda.and_then(of_cuda)].into_iter().flatten().collect())
    }

    /// Creates a filter from the program's list; without one, from the environment variables.
    pub(crate) fn of_environment(devices: Option<&[String]>) -> Self {
        let [nvidia, cuda] = ["NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"].map(|name| std::env::var(name).ok());
        Filter::new(devices, nvidia.as_deref(), cuda.as_deref())
    }

    /// Returns whether the GPU at `index` of `count` is selected; `None` if that depends on the UUID and it is not
    /// given.
    pub(crate) fn selects(&self, index: u32, count: u32, uuid: Option<&str>) -> Option<bool> {
        let mut answers = self.0.iter().map(|list| list.selects(index, count, uuid));
        // One list without the GPU rejects it; otherwise one unknown answer makes the result unknown.
        if answers.clone().any(|answer| answer == Some(false)) {
            return Some(false);
        }
        answers.all(|answer| answer == Some(true)).then_some(true)
    }
}

impl List {
    fn selects(&self, index: u32, count: u32, uuid: Option<&str>) -> Option<bool> {
        if self.is_of_machine && !self.wanted.is_empty() && self.wanted.len() >= count as usize {
            return Some(true);
        }
        let mut doubt = false;
        for wanted in &self.wanted {
            match (wanted, uuid) {
                (Wanted::Index(number), _) if *number == index => return Some(true),
                (Wanted::Uuid(start), Some(uuid)) if uuid.starts_with(start.as_str()) => return Some(true),
                (Wanted::Uuid(_), None) => doubt = true,
                _ => {}
            }
        }
        if doubt { None } else { Some(false) }
    }
}

impl Wanted {
    /// Parses `1`, `GPU-5a3c…`, or a MIG instance of such a GPU: `1:0`, `MIG-GPU-5a3c…/1/0`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let uuid = text.strip_prefix("MIG-").unwrap_or(text);
        if uuid.starts_with("GPU-") {
            return Some(Wanted::Uuid(uuid.split('/').next().unwrap_or(uuid).to_owned()));
        }
        text.split(':').next()?.parse().ok().map(Wanted::Index)
    }
}

/// Returns whether the text is a MIG instance's own UUID, from which its GPU cannot be derived.
fn is_bare_instance(text: &str) -> bool {
    text.starts_with("MIG-") && !text.starts_with("MIG-GPU-")
}

fn warn(place: &str, text: &str, outcome: &str) -> Option<Wanted> {
    log::warn!(
        target: "tracecast_nvml",
        "{place} names `{text}`, which is neither the index of a GPU nor its UUID; {outcome}"
    );
    None
}

/// Parses `NVIDIA_VISIBLE_DEVICES`. Returns `None`, which restricts nothing, for a text that is not a list, such as
/// `all`, and for a list that cannot be interpreted here: entries such as a MIG instance's own UUID, a device plugin's
/// directory or a CDI name were already applied by the container runtime.
fn of_container(text: &str) -> Option<List> {
    let wanted = match text.trim() {
        "" | "all" | "void" => return None,
        "none" => Vec::new(),
        list if list.split(',').any(|text| is_bare_instance(text.trim())) => return None,
        list => {
            let parse = |text: &str| {
                Wanted::parse(text).or_else(|| warn("NVIDIA_VISIBLE_DEVICES", text, "the variable is ignored"))
            };
            list.split(',').map(parse).collect::<Option<_>>()?
        }
    };
    Some(List { wanted, is_of_machine: true })
}

/// Parses `CUDA_VISIBLE_DEVICES`. As in CUDA, the list ends before the first invalid entry, such as `-1`. Returns
/// `None`, which restricts nothing, if an entry is a MIG instance's own UUID.
fn of_cuda(text: &str) -> Option<List> {
    let is_gpu =
        |text: &&str| ["GPU-", "MIG-"].iter().any(|start| text.starts_with(start)) || text.parse::<u32>().is_ok();
    let texts = text.split(',').map(str::trim).take_while(is_gpu);
    if texts.clone().any(is_bare_instance) {
        return None;
    }
    Some(List { wanted: texts.filter_map(Wanted::parse).collect(), is_of_machine: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts which of four GPUs, `GPU-0..` to `GPU-3..`, are selected.
    #[track_caller]
    fn check(nvidia: Option<&str>, cuda: Option<&str>, expected: &[u32]) {
        let filter = Filter::new(None, nvidia, cuda);
        let selects = |index: &u32| filter.selects(*index, 4, Some(&format!("GPU-{index}abc"))) == Some(true);
        assert_eq!((0..4).filter(selects).collect::<Vec<_>>(), expected, "{nvidia:?} {cuda:?}");
    }

    #[test]
    fn without_a_list_all_are_wanted() {
        check(None, None, &[0, 1, 2, 3]);
        for text in ["all", "", "void"] {
            check(Some(text), None, &[0, 1, 2, 3]);
        }
        check(Some("none"), None, &[]);
    }

    #[test]
    fn a_list_has_indices_or_identifiers() {
        check(Some("0,2"), None, &[0, 2]);
        check(Some("GPU-1abc, GPU-3"), None, &[1, 3]);
        check(Some("2:0,2:1"), None, &[2]);
        check(Some("MIG-GPU-2abc/1/0"), None, &[2]);
        check(None, Some("3,1"), &[1, 3]);
        check(Some("0,1"), Some("1,2"), &[1]);
    }

    #[test]
    fn cuda_stops_at_what_is_no_gpu() {
        check(None, Some(""), &[]);
        check(None, Some("-1"), &[]);
        check(None, Some("1,-1,2"), &[1]);
    }

    #[test]
    fn cuda_names_instances_by_their_gpu_or_by_themselves() {
        check(None, Some("MIG-GPU-2abc/1/0"), &[2]);
        check(None, Some("0, MIG-GPU-2abc/1/0,-1,3"), &[0, 2]);
        check(None, Some("MIG-5a3c-11"), &[0, 1, 2, 3]);
        check(Some("1"), Some("MIG-5a3c-11"), &[1]);
        check(None, Some("-1,MIG-5a3c-11"), &[]);
    }

    #[test]
    fn a_list_that_only_the_runtime_of_the_container_can_read_leaves_out_nothing() {
        for text in ["/var/run/nvidia-container-devices", "nvidia.com/gpu=0", "0,nvidia.com/gpu=1"] {
            check(Some(text), None, &[0, 1, 2, 3]);
        }
        check(Some("nvidia.com/gpu=0"), Some("2"), &[2]);
    }

    #[test]
    fn a_container_that_has_just_what_was_asked_for_has_all() {
        // GPUs 4 to 7 of the machine have the indices 0 to 3 in the container.
        check(Some("4,5,6,7"), None, &[0, 1, 2, 3]);
        check(Some("MIG-5a3c"), None, &[0, 1, 2, 3]);
    }

    #[test]
    fn what_the_program_says_goes_before_the_environment() {
        let devices = ["1".to_owned(), "nonsense".to_owned()];
        let filter = Filter::new(Some(&devices), Some("0"), Some("0"));
        assert_eq!([0, 1, 2].map(|index| filter.selects(index, 3, None)), [Some(false), Some(true), Some(false)]);
    }

    #[test]
    fn an_identifier_has_to_be_known_first() {
        let filter = Filter::new(Some(&["GPU-7".to_owned()]), None, None);
        assert_eq!(filter.selects(0, 2, None), None);
        assert_eq!(filter.selects(0, 2, Some("GPU-7abc")), Some(true));
        assert_eq!(filter.selects(0, 2, Some("GPU-8abc")), Some(false));
    }
}
