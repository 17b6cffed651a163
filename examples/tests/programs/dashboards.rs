//! The dashboards of `deploy/grafana` are those that the program writes.

use std::path::Path;
use std::process::Command;

#[test]
fn the_dashboards_are_those_that_are_generated() {
    let folder = std::env::temp_dir().join(format!("tracecast-dashboards-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_dashboards")).arg(&folder).status().unwrap();
    assert!(status.success());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/grafana/dashboards");
    let files = |folder: &Path| -> Vec<_> {
        let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
        files.sort();
        files
    };
    assert_eq!(files(&kept), files(&folder));
    for file in files(&kept) {
        let [kept, written] = [&kept, &folder].map(|folder| std::fs::read_to_string(folder.join(&file)).unwrap());
        let how = "cargo run -p tracecast-examples --bin dashboards -- deploy/grafana/dashboards";
        assert!(kept == written, "{} is not what is generated now; make it again: {how}", file.display());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn wrong_arguments_name_what_is_accepted() {
    let output = Command::new(env!("CARGO_BIN_EXE_dashboards")).args(["--serve", "x", "y"]).output().unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("expected a folder to write to, or --serve PORT"), "{text}");
}
