//! Counts messages. A frame of HTTP may hold several of them, or a part of one.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// The length of a message's prefix: a byte for compression, four for the message's length.
const PREFIX: usize = 5;

/// The number of messages that have passed, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Passed {
    /// Returns the difference to an earlier count.
    pub(crate) fn since(self, then: Passed) -> Passed {
        let messages = self.messages.saturating_sub(then.messages);
        Passed { messages, bytes: self.bytes.saturating_sub(then.bytes) }
    }
}

/// Counts the messages of a stream from its data.
#[derive(Debug, Default)]
pub struct Messages {
    prefix: [u8; PREFIX],
    /// Bytes of the prefix that have been read.
    seen: u8,
    /// Bytes of the message that are still missing.
    left: u32,
    pub(crate) passed: Passed,
}

impl Messages {
    /// Returns whether the stream is empty or stops inside a message.
    pub(crate) fn is_cut(&self) -> bool {
        self.seen != 0 || self.passed.messages == 0
    }

    pub(crate) fn read(&mut self, data: &[u8]) {
        // Most frames are exactly one message.
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

/// Counts of a body that another task or thread may own by now.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    messages: AtomicU64,
    bytes: AtomicU64,
    end: AtomicU8,
}

/// An abnormal end of a request's body. The stored number is zero for any other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BodyEnd {
    /// The body ended before or inside a message, without an end of the stream. Some bodies do not report such an end.
    Cut = 1,
    /// The sender reset the stream, or the connection is gone.
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
