//! Tests of header values that change: from a file, and from a callback.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};

use super::server::{Reply, Server, accepting, scripted};
use super::*;
use crate::config::HeaderSource;

fn with(protocol: Protocol, server: &Server, headers: Vec<(&str, HeaderSource)>) -> Otlp {
    let headers = headers.into_iter().map(|(name, source)| (name.to_owned(), source)).collect();
    Otlp { headers, ..target(protocol, server.url()) }
}

#[tokio::test]
async fn a_file_is_read_again_when_it_changes() {
    let folder = std::env::temp_dir().join(format!("tracecast-rotating-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("token");
    for protocol in PROTOCOLS {
        fs::write(&file, "first\n").unwrap();
        let (server, script) = accepting(protocol).await;
        let headers = vec![
            ("authorization", HeaderSource::File(file.clone().into())),
            ("x-raw", HeaderSource::File(file.clone().into())),
        ];
        let mut transport = transport(&with(protocol, &server, headers));
        assert_eq!(transport.check_files(), Ok(()));
        let mut send = async |expected: [&str; 2]| {
            assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
            let request = script.request();
            assert_eq!(
                ["authorization", "x-raw"].map(|name| request.headers()[name].to_str().unwrap().to_owned()),
                expected
            );
            transport.files_problem()
        };
        assert_eq!(send(["Bearer first", "first"]).await, None);
        // Replaces the file as Kubernetes replaces projected tokens: a new file gets the name of the old file.
        fs::write(folder.join("next"), " Basic second ").unwrap();
        fs::rename(folder.join("next"), &file).unwrap();
        assert_eq!(send(["Basic second", "Basic second"]).await, None);
        // An invalid value leaves the last valid one in use.
        fs::remove_file(&file).unwrap();
        let problem = send(["Basic second", "Basic second"]).await.unwrap();
        assert!(problem.contains("token` of header `authorization` cannot be read: "), "{problem}");
        assert!(problem.ends_with("; using the previous value"), "{problem}");
        fs::write(&file, " \n").unwrap();
        assert!(send(["Basic second", "Basic second"]).await.unwrap().contains(" is empty; "));
        fs::write(&file, "two\nlines").unwrap();
        assert!(send(["Basic second", "Basic second"]).await.unwrap().contains(" is invalid; "));
        fs::write(&file, "third").unwrap();
        assert_eq!(send(["Bearer third", "third"]).await, None);
        // The connection is reused: a header belongs to a request.
        assert_eq!(server.connections(), 1);
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Kubernetes projects a token into a folder with a time for its name: the token is a link to `..data/token`, and `..data` a link that
/// is replaced to point at the next folder.
#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_is_swapped_under_its_link_is_read_again() {
    use std::os::unix::fs::symlink;

    let folder = std::env::temp_dir().join(format!("tracecast-projected-{}", std::process::id()));
    let project = |name: &str, token: &str| {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("token"), token).unwrap();
        symlink(name, folder.join("..data_tmp")).unwrap();
        fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
    };
    project("..2026_01_01", "one");
    let file = folder.join("token");
    symlink("..data/token", &file).unwrap();
    let (server, script) = accepting(Protocol::HttpProtobuf).await;
    let headers = vec![("authorization", HeaderSource::File(file.into()))];
    let mut transport = transport(&with(Protocol::HttpProtobuf, &server, headers));
    let mut send = async || {
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(transport.files_problem(), None);
        script.request().headers()["authorization"].to_str().unwrap().to_owned()
    };
    assert_eq!(send().await, "Bearer one");
    // This token is as long as the first, so the files differ only in their time or inode number.
    project("..2026_01_02", "two");
    assert_eq!(send().await, "Bearer two");
    fs::remove_dir_all(folder.join("..2026_01_01")).unwrap();
    assert_eq!(send().await, "Bearer two");
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn without_a_value_nothing_is_sent_until_there_is_one() {
    let file = std::env::temp_dir().join(format!("tracecast-late-token-{}", std::process::id()));
    let (server, script) = accepting(Protocol::HttpProtobuf).await;
    let mut transport =
        transport(&with(Protocol::HttpProtobuf, &server, vec![("x-token", HeaderSource::File(file.clone().into()))]));
    assert!(transport.check_files().unwrap_err().contains("cannot be read"));
    let sent = printed(&transport.send(b"spans".to_vec()).await);
    assert!(sent.starts_with("retry after None: the file `") && !script.answered(), "{sent}");
    fs::write(&file, "late").unwrap();
    assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
    assert_eq!(script.request().headers()["x-token"], "late");
    fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_callback_is_asked_before_each_request() {
    for protocol in PROTOCOLS {
        let (server, script) = accepting(protocol).await;
        let count = AtomicUsize::new(0);
        let callback = Arc::new(move || match count.fetch_add(1, SeqCst) {
            0 => Some(Secret::new("Bearer one")),
            1 => None,
            2 => panic!("no token"),
            _ => Some(Secret::new("Bearer four")),
        });
        let mut transport =
            transport(&with(protocol, &server, vec![("authorization", HeaderSource::Callback(callback))]));
        let mut sent = async |expected: &str| {
            assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
            assert_eq!(script.request().headers()["authorization"], expected);
            transport.files_problem().unwrap_or_default()
        };
        assert_eq!(sent("Bearer one").await, "");
        assert_eq!(
            sent("Bearer one").await,
            "the callback of header `authorization` returned no value; using the previous value"
        );
        assert_eq!(
            sent("Bearer one").await,
            "the callback of header `authorization` panicked; using the previous value"
        );
        assert_eq!(sent("Bearer four").await, "");
    }
}

/// A callback that hangs occupies one thread and delays a request until its timeout; it is not called again meanwhile.
#[tokio::test]
async fn a_callback_that_hangs_holds_nobody_else() {
    let (server, script) = accepting(Protocol::HttpProtobuf).await;
    let (release, held) = mpsc::channel::<()>();
    let (held, calls) = (Mutex::new(held), Arc::new(AtomicUsize::new(0)));
    let counted = calls.clone();
    let callback = Arc::new(move || {
        counted.fetch_add(1, SeqCst);
        held.lock().unwrap().recv().ok().map(|()| Secret::new("late"))
    });
    let target = with(Protocol::HttpProtobuf, &server, vec![("x-token", HeaderSource::Callback(callback))]);
    let mut transport = transport(&Otlp { timeout: Duration::from_millis(30), ..target });
    for _ in 0..3 {
        let sent = printed(&transport.send(b"spans".to_vec()).await);
        assert!(sent.starts_with("retry after None: no "), "{sent}");
    }
    assert_eq!((calls.load(SeqCst), script.answered()), (1, false));
    release.send(()).unwrap();
    transport.timeout = PATIENCE;
    assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
    assert_eq!((script.request().headers()["x-token"].to_str().unwrap(), calls.load(SeqCst)), ("late", 1));
    drop(release);
}

/// A receiver that repeats a header's value does not bring it into the log.
#[tokio::test]
async fn values_never_print() {
    let bad = |value: &str| Reply::http(400).header("content-type", "text/plain").body(value.as_bytes());
    let (server, script) = scripted(Protocol::HttpJson, bad("bad token hunter2-1")).await;
    let count = AtomicUsize::new(1);
    let callback = Arc::new(move || Some(Secret::new(format!("Bearer hunter2-{}", count.fetch_add(1, SeqCst)))));
    let target = with(Protocol::HttpJson, &server, vec![("authorization", HeaderSource::Callback(callback))]);
    assert!(!format!("{target:?}").contains("hunter2"));
    let mut transport = transport(&target);
    let sent = printed(&transport.send(b"spans".to_vec()).await);
    assert!(sent.starts_with("refused: HTTP 400 Bad Request") && !sent.contains("hunter2"), "{sent}");
    script.set(bad("bad token hunter2-2"));
    let sent = printed(&transport.send(b"spans".to_vec()).await);
    assert!(!sent.contains("hunter2"), "{sent}");
}
