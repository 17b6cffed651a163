//! The demo runs to its end and shows what it promises, on the terminal and in the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tracecast_receiver::{NOBODY, Receiver};

use crate::support::{command, text};

const DEMO: &str = env!("CARGO_BIN_EXE_tracecast-examples");

/// What the terminal shows, and where the page is. All tests look at one run.
fn shown() -> &'static (String, PathBuf) {
    static SHOWN: OnceLock<(String, PathBuf)> = OnceLock::new();
    SHOWN.get_or_init(|| {
        let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo.html");
        let output = command(DEMO, &[]).arg("--page").arg(&page).output().unwrap();
        (text(&output), page)
    })
}

/// The lines below a heading.
fn section(heading: &str) -> Vec<&'static str> {
    let lines = shown().0.lines().skip_while(move |line| !line.starts_with(heading)).skip(2);
    lines.take_while(|line| !line.starts_with("---")).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[test]
fn one_request_is_a_tree_across_all_processes() {
    let tree = section("one request across 4 processes");
    let find = |start: &str, process: &str| {
        let is_it = |line: &&&str| line.trim_start().starts_with(start) && line.contains(process);
        *tree.iter().find(is_it).unwrap_or_else(|| panic!("{start} of {process} in\n{}", shown().0))
    };
    let path = [
        ("Client/LoadModel ", "client"),
        ("StoreDaemon/MaterializeReplica ", "client"),
        ("StoreDaemon/MaterializeReplica ", "daemon-2"),
        ("StoreEngine/LoadReplica ", "daemon-2"),
        ("StoreEngine/TransferReplica ", "daemon-2"),
        ("StoreDaemon/PullReplica ", "daemon-2"),
        ("StoreDaemon/PullReplica ", "daemon-1"),
        ("StoreEngine/ReadBatch ", "daemon-1"),
    ];
    let indents = path.map(|(name, process)| indent(find(name, process)));
    assert!(indents.windows(2).all(|pair| pair[1] == pair[0] + 2), "{indents:?}\n{}", shown().0);
    assert!(indent(find("GlobalStore/ChoosePeer ", "global-store")) > indents[2]);
    assert!(find("StoreEngine/LoadReplica ", "daemon-2").contains("tc.source.type=remote"));
    let failed = tree.iter().find(|line| line.contains("error.type=ChecksumMismatch")).unwrap();
    assert!(failed.trim_start().starts_with("StoreEngine/P2PVerify ") && failed.contains(" error "), "{failed}");
    assert!(tree.iter().any(|line| line.trim_start().starts_with("~ linked to StoreEngine/P2PVerify ")));
}

#[test]
fn one_request_fails_one_is_given_up_and_one_daemon_drains() {
    let traces = section("all traces");
    let line = |artifact: &str| *traces.iter().find(|line| line.contains(artifact)).unwrap();
    assert!(line("missing-weights").contains(" error "), "{}", shown().0);
    assert!(line("mixtral-8x7b").contains(" cancelled "), "{}", shown().0);
    assert!(line("StoreDaemon/LeaveFleet").contains("daemon-2"), "{}", shown().0);
    let told = shown().0.lines().position(|line| line.contains("gets SIGTERM and drains")).unwrap();
    let done = shown().0.lines().position(|line| line.contains("materialized gemma-2-9b")).unwrap();
    let ended = shown().0.lines().position(|line| line.contains("daemon-2     ended with 0")).unwrap();
    assert!(told < done && done < ended, "{}", shown().0);
}

#[test]
fn metrics_log_lines_and_the_account_are_shown() {
    let metrics = section("metrics");
    let names = [
        "tc_pool_used_bytes",
        "tc_p2p_throughput_bytes_per_second",
        "tc_load_seconds",
        "tc_rpc_server_duration_seconds",
        "tc_gpu_utilization_percent",
    ];
    for name in names {
        assert!(metrics.iter().any(|line| line.trim_start().starts_with(name)), "{name} in\n{}", shown().0);
    }
    let trace = section("one request across")[0].split([' ', ';']).find(|word| word.len() == 32).unwrap();
    let lines = section("log lines");
    assert!(lines.iter().filter(|line| line.contains(&format!("trace_id={trace} span_id="))).count() >= 4);
    let all = section("account").into_iter().find(|line| line.trim_start().starts_with("all ")).unwrap();
    let counts: Vec<u64> = all.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(counts[0] > 100 && counts[0] == counts[1] + counts[2], "{all}");
}

#[test]
fn the_page_holds_the_same_and_needs_nothing_else() {
    let (text, path) = shown();
    assert!(text.ends_with(&format!("page for the browser: {}\n", path.display())), "{text}");
    let page = std::fs::read_to_string(path).unwrap();
    for part in ["StoreEngine/P2PVerify", "ChecksumMismatch", "daemon-1", "tc_gpu_power_watts", "a replica is ready"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains(">Timeline</th>"), "{page}");
    for kind in ["client", "server"] {
        let row = format!("StoreDaemon/PullReplica <span class=\"kind\">{kind}</span>");
        assert!(page.contains(&row), "{row} in the page");
    }
    // Text may show an address: the backend's is a label. Tags and styles must not.
    let tags: String = page.split('<').filter_map(|part| part.split('>').next()).collect();
    for outside in ["http://", "https://", "src="] {
        assert!(!tags.contains(outside), "{outside} in a tag of the page");
    }
    for outside in ["@import", "url("] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("default-src 'none'"));
}

/// The page as the browser has it after its script ran, and what the browser logged.
fn browse(chromium: &str, url: &str) -> (String, String) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("chromium-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking \
                 --disable-component-update --disable-sync --enable-logging=stderr --dump-dom";
    let mut command = Command::new(chromium);
    command.args(flags.split_whitespace()).arg(format!("--user-data-dir={}", profile.display())).arg(url);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let _ = std::fs::remove_dir_all(profile);
    (text(&output), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The browser, if there is one.
fn chromium() -> Option<&'static str> {
    let is_there = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there);
    if found.is_none() {
        println!("there is no chromium: the page was not opened in a browser");
    }
    found
}

/// The tags of the rows of the first tree.
fn rows(dom: &str) -> Vec<String> {
    let grid = dom.split("role=\"treegrid\"").nth(1).and_then(|rest| rest.split("</table>").next()).unwrap();
    grid.split("<tr").skip(2).map(|row| row[..row.find('>').unwrap()].to_owned()).collect()
}

/// The first row of the first tree has the focus.
const FOCUS_FIRST: &str = "<script>document.querySelector('[role=treegrid] tbody tr').focus();";

/// What stands in the attribute of a tag.
fn value<'a>(tag: &'a str, name: &str) -> &'a str {
    tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default()
}

#[test]
fn a_browser_shows_rows_nested_as_the_spans_are_and_logs_no_error() {
    let Some(chromium) = chromium() else { return };
    // The link to a span that failed: the script goes there.
    let page = std::fs::read_to_string(&shown().1).unwrap();
    let failed = page.lines().find(|line| line.contains(" class=\"failed\"") && line.contains("P2PVerify")).unwrap();
    let id = value(failed, "id");
    let (dom, logged) = browse(chromium, &format!("file://{}#{id}", shown().1.display()));
    assert!(dom.contains("data-ready=\"yes\""), "the script did not run to its end: {logged}");
    assert!(!logged.contains("CONSOLE"), "{logged}");

    let rows = rows(&dom);
    let tree = section("one request across");
    // On a busy machine a span takes seconds.
    let is_span =
        |line: &&&str| [" ms ", " s "].iter().any(|unit| line.contains(unit)) && !line.trim_start().starts_with('~');
    let names = tree.iter().skip(1).filter(is_span);
    let levels: Vec<usize> = names.map(|line| indent(line) / 2).collect();
    let shown_levels: Vec<usize> = rows.iter().map(|row| value(row, "aria-level").parse().unwrap()).collect();
    assert_eq!(shown_levels, levels, "the rows of the page are not those of the terminal");
    let focused: Vec<_> = rows.iter().filter(|row| value(row, "tabindex") == "0").collect();
    assert_eq!(focused.len(), 1);
    assert_eq!(value(focused[0], "id"), id);
}

#[test]
fn the_tree_is_used_by_keyboard() {
    let Some(chromium) = chromium() else { return };
    // As if somebody pressed these keys on the first row: close the tree, open it, go down, show what is there.
    let keys = "<script>for (const key of KEYS_PRESSED) document.activeElement.dispatchEvent(\
                new KeyboardEvent('keydown', { key, bubbles: true }));</script>";
    let page = std::fs::read_to_string(&shown().1).unwrap();
    let press = |name: &str, pressed: &str| {
        let script = keys.replace("KEYS_PRESSED", pressed).replace("<script>", FOCUS_FIRST);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, page.replace("</body>", &format!("{script}</body>"))).unwrap();
        let (dom, logged) = browse(chromium, &format!("file://{}", path.display()));
        assert!(!logged.contains("CONSOLE"), "{logged}");
        rows(&dom)
    };
    let hidden = |rows: &[String]| rows.iter().filter(|row| row.contains(" hidden=")).count();
    let closed = press("closed.html", "['ArrowLeft']");
    assert_eq!((value(&closed[0], "aria-expanded"), hidden(&closed)), ("false", closed.len() - 1));
    let opened = press("opened.html", "['ArrowLeft', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowUp']");
    assert_eq!((value(&opened[0], "aria-expanded"), hidden(&opened)), ("true", 0));
    assert_eq!((value(&opened[0], "tabindex"), value(&opened[1], "tabindex")), ("-1", "0"));
}

#[test]
fn with_an_endpoint_everything_goes_there() {
    let receiver = Receiver::start();
    let output = command(DEMO, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint::<String>())]).output().unwrap();
    let text = text(&output);
    assert!(text.starts_with("OTEL_EXPORTER_OTLP_ENDPOINT is set: all telemetry goes there"), "{text}");
    assert!(!text.contains("one request across"), "{text}");
    let exported = receiver.exported();
    assert!(exported.names().contains(&"StoreEngine/P2PIngest"), "{:?}", exported.names());
    assert!(exported.has_metric("tc_pool_used_bytes") && exported.has_metric("tc_gpu_up"));
    assert!(exported.logs.iter().any(|record| !record.trace_id.is_empty()));
    let total = format!("{} spans ended = {0} exported + 0 dropped + 0 pending", exported.spans.len());
    assert!(text.lines().any(|line| line.trim_start().starts_with("all") && line.ends_with(&total)), "{total}\n{text}");
}

#[test]
fn an_endpoint_at_which_nobody_is_fails_the_demo_and_not_the_fleet() {
    let endpoint = format!("http://{NOBODY}");
    let output = command(DEMO, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).output().unwrap();
    let (shown, missing) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(missing.contains("missing: a backend that accepts everything"), "{missing}");
    assert!(!missing.contains("a clean exit") && shown.contains("materialized gemma-2-9b"), "{shown}{missing}");
}

#[test]
fn the_catalogue_lists_what_the_program_can_emit() {
    let text = text(&command(DEMO, &[]).arg("--telemetry-catalogue").output().unwrap());
    for part in ["`StoreEngine/P2PIngest`", "`tc.session.id`", "`tc_p2p_bytes_total`", "`tc_gpu_up`"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn an_unknown_argument_is_told_what_is_accepted() {
    let output = command(DEMO, &[]).arg("--fast").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: tracecast-examples [--page PATH"));
}
