//! Counting messages: frames are not messages, one may hold many of them, or a part of one.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// What stands in front of each: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// How many messages have passed, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Passed {
    /// What has passed since then.
    pub(crate) fn since(self, then: Passed) -> Passed {
        let messages = self.messages.saturating_sub(then.messages);
        Passed { messages, bytes: self.bytes.saturating_sub(then.bytes) }
    }
}

/// Reads a stream of messages as it passes by.
#[derive(Debug, Default)]
pub struct Messages {
    prefix: [u8; PREFIX],
    /// Bytes of the prefix that were seen.
    seen: u8,
    /// Bytes of the message that are to come.
    left: u32,
    pub(crate) passed: Passed,
}

impl Messages {
    /// Whether no message was begun, or one was and has not ended.
    pub(crate) fn is_cut(&self) -> bool {
        self.seen != 0 || self.passed.messages == 0
    }

    pub(crate) fn read(&mut self, data: &[u8]) {
        // Mostly a frame is a message.
        if self.seen == 0
            && let Some(([_, length @ ..], message)) = data.split_first_chunk::<PREFIX>()
            && message.len() == u32::from_be_bytes(*length) as usize
        {
            self.passed.messages += 1;
            self.passed.bytes += message.len() as u64;
            return;
        }
        self.read_parts(data);
    }

    fn read_parts(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            let taken = if self.seen() < PREFIX { self.read_prefix(data) } else { self.read_message(data) };
            data = data.get(taken..).unwrap_or_default();
            if self.seen() == PREFIX && self.left == 0 {
                self.passed.messages += 1;
                self.seen = 0;
            }
        }
    }

    fn read_prefix(&mut self, data: &[u8]) -> usize {
        let seen = self.seen();
        let taken = data.len().min(PREFIX - seen);
        self.prefix[seen..seen + taken].copy_from_slice(&data[..taken]);
        self.seen += taken as u8;
        if self.seen() == PREFIX {
            let [_, length @ ..] = self.prefix;
            self.left = u32::from_be_bytes(length);
        }
        taken
    }

    fn seen(&self) -> usize {
        usize::from(self.seen)
    }

    fn read_message(&mut self, data: &[u8]) -> usize {
        let taken = data.len().min(self.left as usize);
        self.left -= taken as u32;
        self.passed.bytes += taken as u64;
        taken
    }
}

/// What was seen of a body that belongs to somebody else by now.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    messages: AtomicU64,
    bytes: AtomicU64,
    end: AtomicU8,
}

/// How the body of a request ended, if not as it should. Zero stands for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BodyEnd {
    /// Before or inside of a message, and no end of the stream was seen. Some bodies never tell of that.
    Cut = 1,
    /// Whoever sent it reset the stream, or is gone.
    Lost,
}

impl AsRef<Counts> for Counts {
    fn as_ref(&self) -> &Counts {
        self
    }
}

impl Counts {
    pub(crate) fn store(&self, messages: &Messages) {
        self.messages.store(messages.passed.messages, Relaxed);
        self.bytes.store(messages.passed.bytes, Relaxed);
    }

    pub(crate) fn set_end(&self, end: BodyEnd) {
        self.end.store(end as u8, Relaxed);
    }

    pub(crate) fn ended(&self, end: BodyEnd) -> bool {
        self.end.load(Relaxed) == end as u8
    }

    pub(crate) fn load(&self) -> Passed {
        Passed { messages: self.messages.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three messages, one of them empty.
    const STREAM: [u8; 20] = [0, 0, 0, 0, 2, 7, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 9, 9, 9];

    #[test]
    fn frames_of_any_size_hold_the_same_messages() {
        for size in 1..=STREAM.len() {
            let mut messages = Messages::default();
            STREAM.chunks(size).for_each(|frame| messages.read(frame));
            assert_eq!(messages.passed, Passed { messages: 3, bytes: 5 }, "frames of {size} bytes");
        }
    }

    #[test]
    fn a_frame_that_is_a_message_is_counted_like_others() {
        let mut messages = Messages::default();
        let (first, rest) = STREAM.split_at(7);
        let (second, third) = rest.split_at(5);
        [first, second, third, first].into_iter().for_each(|frame| messages.read(frame));
        assert_eq!(messages.passed, Passed { messages: 4, bytes: 7 });
    }

    #[test]
    fn a_message_counts_when_all_of_it_has_passed() {
        let mut messages = Messages::default();
        messages.read(&STREAM[..6]);
        assert_eq!(messages.passed, Passed { messages: 0, bytes: 1 });
        messages.read(&STREAM[6..7]);
        assert_eq!(messages.passed, Passed { messages: 1, bytes: 2 });
    }

    #[test]
    fn lengths_that_are_lies_do_no_harm() {
        let mut messages = Messages::default();
        messages.read(&[0xff; PREFIX]);
        messages.read(&[0; 1000]);
        assert_eq!(messages.passed, Passed { messages: 0, bytes: 1000 });
    }
}
