//! The metrics of the groups. Device names are interned up to a limit; further ones are `other`.
//!
//! Conventional names are from version 1.44 of OpenTelemetry's semantic conventions, where they may change.

use tracecast::{TcLabel, tc_keys, tc_metrics};

use crate::host::metrics::{mode, two_names};

/// The direction of network traffic.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Direction {
    Transmit,
    Receive,
}

/// The operation on a disk.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Operation {
    Read,
    Write,
}

/// The state of a file system's bytes. Reserved bytes are for the administrator.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Space {
    Used,
    Free,
    Reserved,
}

/// The period of a load average.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Period {
    #[tc_label(rename = "1m")]
    One,
    #[tc_label(rename = "5m")]
    Five,
    #[tc_label(rename = "15m")]
    Fifteen,
}

/// The state of swap space.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Paging {
    Used,
    Free,
}

/// The direction of a swapped page.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Swapped {
    In,
    Out,
}

/// The kind of a page fault; a major one reads from a disk.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Fault {
    Minor,
    Major,
}

tc_keys! {
    /// A network interface or a disk.
    pub(super) label device: Interned<64> = "device";
    /// The direction of bytes.
    pub(super) label direction: Direction = "direction";
    /// The operation of a disk.
    pub(super) label operation: Operation = "operation";
    /// Where a file system is mounted.
    pub(super) label mountpoint: Interned<32> = "mountpoint";
    /// The use of a file system's bytes.
    pub(super) label space: Space = "state";
    /// The period of an average.
    pub(super) label period: Period = "period";
    /// A CPU, by its number.
    pub(super) label cpu: Index<256> = "cpu";
    /// Whether a page fault read from a disk.
    pub(super) label fault: Fault = "kind";
    /// A network interface, in the conventions.
    pub(super) label interface_name: Interned<64> = "network.interface.name";
    /// The direction of bytes, in the conventions.
    pub(super) label io_direction: Direction = "network.io.direction";
    /// A device, in the conventions.
    pub(super) label system_device: Interned<64> = "system.device";
    /// The operation of a disk, in the conventions.
    pub(super) label disk_direction: Operation = "disk.io.direction";
    /// Where a file system is mounted, in the conventions.
    pub(super) label system_mountpoint: Interned<32> = "system.filesystem.mountpoint";
    /// The use of a file system's bytes, in the conventions.
    pub(super) label filesystem_state: Space = "system.filesystem.state";
    /// The use of swap space, in the conventions.
    pub(super) label paging_state: Paging = "system.paging.state";
    /// Whether a page fault read from a disk, in the conventions.
    pub(super) label fault_type: Fault = "system.paging.fault.type";
}

tc_keys! {
    /// The use of swap space.
    pub(super) label paging: Paging = "state";
    /// The direction in which a page is swapped.
    pub(super) label swapped: Swapped = "direction";
}

two_names! {
    /// Bytes over a network interface since the monitor started.
    NETWORK_BYTES: Counter<u64> =
        "tc_system_network_bytes_total"(device, direction), "system.network.io"(interface_name, io_direction) in "By";
    /// Packets over a network interface since the monitor started.
    NETWORK_PACKETS: Counter<u64> =
        "tc_system_network_packets_total"(device, direction), "system.network.packet.count"(system_device, io_direction)
        in "{packet}";
    /// Errors of a network interface since the monitor started.
    NETWORK_ERRORS: Counter<u64> =
        "tc_system_network_errors_total"(device, direction), "system.network.errors"(interface_name, io_direction)
        in "{error}";
    /// Packets that a network interface dropped since the monitor started.
    NETWORK_DROPPED: Counter<u64> =
        "tc_system_network_dropped_packets_total"(device, direction),
        "system.network.packet.dropped"(interface_name, io_direction) in "{packet}";

    /// Bytes that were read from a disk and written to it since the monitor started.
    DISK_BYTES: Counter<u64> =
        "tc_system_disk_bytes_total"(device, operation), "system.disk.io"(system_device, disk_direction) in "By";
    /// Operations of a disk that were completed since the monitor started.
    DISK_OPERATIONS: Counter<u64> =
        "tc_system_disk_operations_total"(device, operation), "system.disk.operations"(system_device, disk_direction)
        in "{operation}";
    /// Sum of the durations of all disk operations since the monitor started; overlapping ones count twice.
    DISK_OPERATION_TIME: Counter<f64> =
        "tc_system_disk_operation_seconds_total"(device, operation),
        "system.disk.operation_time"(system_device, disk_direction) in "s";
    /// Time in which a disk was busy since the monitor started.
    DISK_BUSY: Counter<f64> =
        "tc_system_disk_busy_seconds_total"(device), "system.disk.io_time"(system_device) in "s";

    /// Bytes of a file system, by use.
    FILESYSTEM_USAGE: Gauge<u64> =
        "tc_system_filesystem_usage_bytes"(mountpoint, space),
        "system.filesystem.usage"(system_mountpoint, filesystem_state) in "By";
    /// Size of a file system.
    FILESYSTEM_SIZE: Gauge<u64> =
        "tc_system_filesystem_size_bytes"(mountpoint), "system.filesystem.limit"(system_mountpoint) in "By";

    /// Swap space, by use.
    SWAP_USAGE: Gauge<u64> = "tc_system_swap_usage_bytes"(paging), "system.paging.usage"(paging_state) in "By";
    /// Page faults of the machine since the monitor started.
    PAGE_FAULTS: Counter<u64> =
        "tc_system_page_faults_total"(fault), "system.paging.faults"(fault_type) in "{fault}";
    /// Page faults of this process since the monitor started.
    PROCESS_PAGE_FAULTS: Counter<u64> =
        "tc_process_page_faults_total"(fault), "process.paging.faults"(fault_type) in "{fault}";
}

// These metrics have no conventional name, or have one with other labels.
tc_metrics! {
    /// Tasks that ran or waited for a CPU or a disk, on average.
    pub(super) static LOAD: Gauge<(period,)> = "tc_system_load_average";
    /// Time of a CPU since the monitor started.
    pub(super) static CORE_SECONDS: Counter<(cpu, mode), f64> = "tc_system_cpu_core_seconds_total";
    /// Pages that were swapped since the monitor started.
    pub(super) static SWAPPED_PAGES: Counter<(swapped,)> = "tc_system_swapped_pages_total";
}
