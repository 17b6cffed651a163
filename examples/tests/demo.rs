//! The demo runs to its end and shows what it promises.

use std::process::Command;

#[test]
fn the_demo_shows_trees_links_errors_and_an_exact_account() {
    let output = Command::new(env!("CARGO_BIN_EXE_tracecast-examples")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let materialized: Vec<_> =
        text.lines().filter(|line| line.trim_start().starts_with("StoreDaemon/Materialize ")).collect();
    // Three that ended and one that was given up, then the catalogue's line.
    assert_eq!(materialized.len(), 5, "{text}");
    assert!(materialized[0].ends_with("tc.artifact.id=resnet-50 tc.source.type=disk tc.size.bytes=4096"), "{text}");
    assert!(materialized[2].contains("error     ") && materialized[2].contains("error.type=NotFound"), "{text}");
    assert!(materialized[3].contains("cancelled"), "{text}");
    assert!(text.contains("~ linked to StoreDaemon/FetchFromPeer in trace "), "{text}");
    let account = text.lines().find(|line| line.contains("ended ")).unwrap();
    assert!(account.ends_with("+ buffered 0 + dropped 0; open 0"), "{account}");
}
