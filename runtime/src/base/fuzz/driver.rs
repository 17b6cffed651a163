//! Generates the inputs of fuzz tests, checks a property for each input, and prints an input that fails.
//!
//! Two variables determine the inputs: `FUZZ_CASES` is the number of cases of each target, `FUZZ_SEED` the seed of the
//! random numbers. To keep an input that failed, add the printed byte string to the seeds of its target: seeds run
//! first, unchanged.

/// The number of cases of a target in an ordinary test run, which takes seconds for all targets.
const CASES: u64 = 2_000;
/// The longest input that mutations make.
const LONGEST: usize = 64 << 10;

/// Random numbers that are the same in each run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    /// Returns a number from 0 to `bound - 1`; 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Returns true with a probability of 1 in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Runs a target: each seed unchanged, then one input of `make` for each case. `check` panics if the property does not
/// hold, and returns whether the parser accepted the input.
///
/// # Panics
/// Panics if the parser accepted fewer than one in fifty of the inputs that `make` returned: such inputs would test only the
/// rejection of garbage.
pub(crate) fn run(
    name: &'static str,
    seeds: &[&[u8]],
    mut make: impl FnMut(&mut Random) -> Vec<u8>,
    mut check: impl FnMut(&[u8]) -> bool,
) {
    let (cases, first) = (variable("FUZZ_CASES").unwrap_or(CASES), variable("FUZZ_SEED").unwrap_or(7));
    let mut random = Random(first);
    let mut understood = 0;
    for seed in seeds {
        let _shown = Shown { name, first, input: seed };
        check(seed);
    }
    for _ in 0..cases {
        let input = make(&mut random);
        let _shown = Shown { name, first, input: &input };
        understood += u64::from(check(&input));
    }
    println!("fuzz {name}: {cases} cases and {} seeds, {understood} accepted", seeds.len());
    assert!(understood >= cases / 50, "{name}: only {understood} of {cases} inputs were accepted");
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: `{text}` is not a number")))
}

/// Prints the input if its property panics.
struct Shown<'a> {
    name: &'static str,
    first: u64,
    input: &'a [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("fuzz {} failed with FUZZ_SEED={} on b\"{}\"", self.name, self.first, self.input.escape_ascii());
        }
    }
}

/// Returns a seed after up to four mutations; one input in a thousand is also repeated up to `LONGEST`. `words` are tokens of the
/// parser's grammar.
pub(crate) fn mutated(random: &mut Random, seeds: &[&[u8]], words: &[&[u8]]) -> Vec<u8> {
    let mut input = random.pick(seeds).to_vec();
    for _ in 0..random.below(5) {
        mutate(random, &mut input, seeds, words);
    }
    // These long inputs exceed every limit of the parsers.
    if random.once_in(1_000) && !input.is_empty() {
        input = input.repeat(LONGEST / input.len());
    }
    input.truncate(LONGEST);
    input
}

fn mutate(random: &mut Random, input: &mut Vec<u8>, seeds: &[&[u8]], words: &[&[u8]]) {
    let from = random.below(input.len() + 1);
    let to = from + random.below((input.len() - from).min(16) + 1);
    let word = random.pick(words);
    let insert = |input: &mut Vec<u8>, piece: &[u8]| drop(input.splice(from..from, piece.iter().copied()));
    match random.below(9) {
        0 => insert(input, word),
        1 => drop(input.splice(from..to, word.iter().copied())),
        2 => insert(input, &[random.next() as u8]),
        3 => input.iter_mut().skip(from).take(1).for_each(|byte| *byte = random.next() as u8),
        4 => drop(input.drain(from..to)),
        5 => input.truncate(from),
        6 => insert(input, random.pick(seeds)),
        7 => {
            let piece = input[from..to].repeat(1 + random.below(40));
            insert(input, &piece);
        }
        _ => input.iter_mut().skip(from).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
    }
}
