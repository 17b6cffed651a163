//! Whatever is logged, a line is one line, valid JSON, and says the same.

use tracecast::__logs::{Options, TestLogs};
use tracing_subscriber::layer::SubscriberExt;

use crate::turn::turn;

/// A generator of texts that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % bound
    }

    /// Any character, and more often one that is hard.
    fn character(&mut self) -> char {
        const HARD: [char; 24] = [
            '\n',
            '\r',
            '\0',
            '\x07',
            '\x1b',
            '[',
            '"',
            '\\',
            '{',
            '}',
            ':',
            ',',
            '/',
            '\x7f',
            '\u{85}',
            '\u{9b}',
            '\u{2028}',
            '\u{2029}',
            '\u{202e}',
            '\u{2066}',
            '\u{feff}',
            '\u{ffff}',
            '\u{10ffff}',
            '=',
        ];
        match self.below(3) {
            0 => HARD[self.below(HARD.len() as u64) as usize],
            1 => (b' ' + self.below(95) as u8) as char,
            _ => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('\u{fffd}'),
        }
    }

    fn text(&mut self) -> String {
        const SHAPES: [&str; 6] =
            ["\"}\n{\"level\":\"error\"}", "\\u0000", "\x1b]0;title\x07", "\r\n\r\n", "\\\"", "</script>"];
        let mut text = String::new();
        for _ in 0..self.below(30) {
            match self.below(12) {
                0 => text.push_str(SHAPES[self.below(6) as usize]),
                _ => text.push(self.character()),
            }
        }
        text
    }
}

fn assert_one_clean_line(line: &str) {
    let text = line.strip_suffix('\n').expect("a line ends");
    let is_bad = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202e}' | '\u{2066}');
    assert!(!text.contains(is_bad), "{text:?}");
}

#[test]
fn any_text_of_tracing_reads_back_as_it_was() {
    let _turn = turn();
    let logs = TestLogs::start(Options::default());
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    let mut random = Random(1);
    tracing::subscriber::with_default(subscriber, || {
        for _ in 0..3_000 {
            let [message, value, shown, debugged] = [(); 4].map(|()| random.text());
            tracing::info!(value, %shown, ?debugged, "odd \"name\"\n\x1b" = value, "{message}");
            let [line] = <[String; 1]>::try_from(logs.lines()).expect("one write for one event");
            assert_one_clean_line(&line);
            let read: serde_json::Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            assert_eq!(read["message"], message);
            assert_eq!(read["value"], value);
            assert_eq!(read["shown"], shown);
            assert_eq!(read["debugged"], format!("{debugged:?}"));
            assert_eq!(read["odd \"name\"\n\x1b"], value);
        }
    });
}

#[test]
fn every_character_reads_back_as_it_was() {
    let _turn = turn();
    let logs = TestLogs::start(Options::default());
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    let all: Vec<char> = (0..=0x10_ffff).filter_map(char::from_u32).collect();
    tracing::subscriber::with_default(subscriber, || {
        for some in all.chunks(1_000) {
            let text = String::from_iter(some);
            tracing::info!("{text}");
            let line = logs.lines().concat();
            assert_one_clean_line(&line);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["message"], text);
        }
    });
}

#[test]
fn any_target_and_key_of_log_reads_back_as_it_was() {
    let _turn = turn();
    let logs = TestLogs::start(Options { install: true, ..Options::default() });
    let mut random = Random(2);
    for _ in 0..3_000 {
        let [message, target, value] = [(); 3].map(|()| random.text());
        let keys = [(); 4].map(|()| random.text());
        let pairs = keys.each_ref().map(|key| (key.as_str(), value.as_str()));
        let mut record = log::Record::builder();
        record.level(log::Level::Error).target(&target).key_values(&pairs);
        log::logger().log(&record.args(format_args!("{message}")).build());
        let [line] = <[String; 1]>::try_from(logs.lines()).expect("one write for one event");
        assert_one_clean_line(&line);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!((&read["message"], &read["target"]), (&message.into(), &target.into()));
        keys.iter().for_each(|key| assert_eq!(read[key], value, "{key:?}"));
    }
}

#[test]
fn any_text_for_people_is_one_line() {
    let _turn = turn();
    let logs = TestLogs::start(Options { text: true, ..Options::default() });
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    let mut random = Random(3);
    tracing::subscriber::with_default(subscriber, || {
        for _ in 0..3_000 {
            let [message, value] = [(); 2].map(|()| random.text());
            tracing::info!(value, "odd \"name\"\n\x1b" = %value, "{message}");
            let [line] = <[String; 1]>::try_from(logs.lines()).expect("one write for one event");
            assert_one_clean_line(&line);
        }
    });
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let _turn = turn();
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    tracing::subscriber::with_default(subscriber, || {
        let text = "\n😀ü\u{2028}".repeat(1_000);
        for value_bytes in 0..40 {
            let logs = TestLogs::start(Options { value_bytes, ..Options::default() });
            tracing::info!(text, shown = %text, "{text}");
            let line = logs.lines().concat();
            assert_one_clean_line(&line);
            let read: serde_json::Value = serde_json::from_str(&line).unwrap();
            // The mark is within the limit, if there is room for it.
            let (room, mark) = if value_bytes <= 3 { (value_bytes, "") } else { (value_bytes - 3, "…") };
            let end = (0..=room as usize).rev().find(|end| text.is_char_boundary(*end)).unwrap();
            let cut = format!("{}{mark}", &text[..end]);
            assert_eq!([&read["text"], &read["shown"], &read["message"]], [cut.as_str(); 3]);
            assert_eq!(logs.records()[0].body, cut);
        }
    });
}
