//! Headers with random and mutated values: nothing panics, memory is bounded, and what is written reads back as the same.

#[path = "support/counting.rs"]
mod counting;

use counting::BYTES;
use formats::{B3, Baggage, TraceParent, TraceState};

// The module is private. Here it has an allocator that counts.
#[allow(dead_code, unused_imports, reason = "the test uses what it needs")]
#[path = "../src/formats/mod.rs"]
mod formats;

/// What this gives, if it allocates no more bytes in all, also counting those that it frees.
#[track_caller]
fn within<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
    let before = BYTES.get();
    let result = run();
    let allocated = BYTES.get() - before;
    assert!(allocated <= bytes, "{allocated} bytes");
    result
}

/// The text while it is made, and the text that is kept, with its counts.
const STATE: usize = 512 + 512 + 16;
/// The same, and the text grows once if the last member is too long for it.
const BAGGAGE: usize = 3 * 8192 + 8192 + 16;

/// All of them in an optimised build; a debug build is ten times slower, and miri a thousand times more.
const INPUTS: usize = if cfg!(miri) {
    100
} else if cfg!(debug_assertions) {
    30_000
} else {
    1_000_000
};

const SEEDS: [&str; 12] = [
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-later",
    "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    "foo@tenant=1 \t, bar= a b c ,, baz=!#$%&'()*+-./:;<>?",
    "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,j=0,k=1,l=2,m=3,n=4,o=5,p=6,q=7,r=8,s=9,t=0,u=1,v=2,w=3,x=4,y=5,z=6",
    "key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue",
    "userId=J%C3%BCrgen+M,serverNode=DF%2028,isProduction=false,broken=%E2%82%zz",
    "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90",
    "64fe8b2a57d3eff7-E457B5A2E4D86BD1-d",
    "d",
    "x=\u{e9}\u{20ac},y=\u{0}",
    "",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Mostly what means something in one of the formats.
    fn byte(&mut self) -> u8 {
        const TELLING: &[u8] = b"0123456789abcdefABCDEFgz-,;=%+@_*/ \t.\"\\\xff\x00\x80d";
        match self.below(8) {
            0 => self.next() as u8,
            _ => TELLING[self.below(TELLING.len())],
        }
    }

    fn input(&mut self, input: &mut Vec<u8>) {
        input.clear();
        if self.below(8) == 0 {
            return (0..self.below(100)).for_each(|_| input.push(self.byte()));
        }
        input.extend_from_slice(SEEDS[self.below(SEEDS.len())].as_bytes());
        for _ in 0..self.below(5) {
            self.mutate(input);
        }
        // Now and then far more than anybody reads.
        if self.below(1000) == 0 && !input.is_empty() {
            *input = input.repeat(50_000 / input.len());
        }
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        let (at, byte) = (self.below(input.len() + 1), self.byte());
        match self.below(6) {
            0 => input.insert(at, byte),
            1 => input.truncate(at),
            2 => input.extend_from_slice(SEEDS[self.below(SEEDS.len())].as_bytes()),
            3 => input.extend_from_within(at..),
            4 if at < input.len() => drop(input.remove(at)),
            _ => input.iter_mut().skip(at).take(1).for_each(|place| *place = byte),
        }
    }
}

#[test]
fn whatever_comes_is_bounded_and_reads_back_as_the_same() {
    let mut random = Random(7);
    let mut input = Vec::new();
    let mut understood = [0; 4];
    for _ in 0..INPUTS {
        random.input(&mut input);
        let cut = random.below(input.len() + 1);
        let (one, two) = input.split_at(cut);
        let valid = [
            parent(&input),
            b3(&input),
            state(&[&input]) | state(&[one, two]),
            baggage(&[&input]) | baggage(&[one, two]),
        ];
        understood.iter_mut().zip(valid).for_each(|(count, valid)| *count += usize::from(valid));
    }
    // Otherwise the inputs would be too wild to say anything.
    assert!(understood.iter().all(|count| *count > INPUTS / 50), "{understood:?} of {INPUTS}");
}

fn parent(input: &[u8]) -> bool {
    let Some(parent) = within(0, || TraceParent::parse(input)) else { return false };
    let mut written = [0; TraceParent::LENGTH];
    within(0, || parent.write(&mut written));
    assert_eq!(TraceParent::parse(&written), Some(parent));
    true
}

fn b3(input: &[u8]) -> bool {
    let Some(b3) = within(0, || B3::parse(input)) else { return false };
    assert_eq!(B3::parse(b3.write(&mut [0; B3::LENGTH])), Some(b3));
    true
}

fn state(lines: &[&[u8]]) -> bool {
    let state = within(STATE, || TraceState::parse(lines.iter().copied()));
    let text = state.as_str();
    assert!(text.len() <= 512 && text.split(',').count() <= 32, "{text}");
    assert_eq!(TraceState::parse([text.as_bytes()]), state);
    if let Some((key, value)) = text.rsplit(',').next().and_then(|member| member.split_once('=')) {
        assert_eq!(state.get(key), Some(value));
        let moved = state.with(key, value).unwrap();
        assert!(moved.as_str().starts_with(key) && moved.as_str().len() == text.len());
        assert_eq!(TraceState::parse([moved.as_str().as_bytes()]), moved);
    }
    !state.is_empty()
}

fn baggage(lines: &[&[u8]]) -> bool {
    let baggage = within(BAGGAGE, || Baggage::parse(lines.iter().copied()));
    let text = baggage.as_str();
    assert!(text.len() <= 8192 && text.split(',').count() <= 64, "{text}");
    assert_eq!(Baggage::parse([text.as_bytes()]), baggage);
    if let Some(member) = baggage.iter().last() {
        // Bytes that are no UTF-8 are replaced in a second text.
        let value = within(4 * 8192, || member.value());
        assert_eq!(baggage.get(member.key).as_ref(), Some(&value));
        // It may be longer than before, as more is encoded.
        if let Some(again) = baggage.with(member.key, &value) {
            assert_eq!(again.get(member.key), Some(value));
            assert_eq!(Baggage::parse([again.as_str().as_bytes()]), again);
        }
    }
    !baggage.is_empty()
}
