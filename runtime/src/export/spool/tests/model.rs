//! Random operations on a spool, compared with a model that is a list.

use super::*;

const BYTES: u64 = 10 * 4096;
const AGE: u64 = 100 * SECOND;

/// A request in the model.
struct Kept {
    id: u64,
    signal: Spooled,
    encoding: Encoding,
    items: u64,
    time: u64,
    blocks: u64,
    claimed: bool,
}

/// The model: requests, the oldest first.
#[derive(Default)]
struct Model {
    kept: Vec<Kept>,
    evicted: u64,
    expired: u64,
}

impl Model {
    fn expire(&mut self, now: u64) {
        let gone = self.kept.extract_if(.., |kept| !kept.claimed && now - kept.time > AGE);
        self.expired += gone.map(|kept| kept.items).sum::<u64>();
    }

    /// True if there is room for a new request.
    fn make_room(&mut self, blocks: u64) -> bool {
        let mut held: u64 = self.kept.iter().map(|kept| kept.blocks).sum();
        let gone = self.kept.extract_if(.., |kept| {
            let gone = !kept.claimed && (held + blocks) * 4096 > BYTES;
            held -= if gone { kept.blocks } else { 0 };
            gone
        });
        self.evicted += gone.map(|kept| kept.items).sum::<u64>();
        (held + blocks) * 4096 <= BYTES
    }

    fn next(&mut self, signal: Spooled, encoding: Encoding, now: u64) -> Option<&mut Kept> {
        let fits = |kept: &&mut Kept| (kept.signal, kept.encoding) == (signal, encoding);
        self.kept.iter_mut().filter(fits).find(|kept| !kept.claimed && now - kept.time <= AGE)
    }
}

/// The spool, the model, and the claimed requests.
struct Both {
    scratch: Scratch,
    hands: Hands,
    spool: Spool,
    model: Model,
    claimed: Vec<Claimed>,
    /// The counts of closed spools.
    lost: Lost,
    puts: u64,
}

impl Both {
    fn new() -> Self {
        let (scratch, hands) = (Scratch::new(), Hands::new());
        let spool = Self::open(&scratch, &hands);
        Both { scratch, hands, spool, model: Model::default(), claimed: Vec::new(), lost: Lost::default(), puts: 0 }
    }

    fn open(scratch: &Scratch, hands: &Hands) -> Spool {
        hands.open(Settings { max_age: Duration::from_nanos(AGE), ..scratch.config(BYTES) })
    }

    fn now(&self) -> u64 {
        self.hands.0.load(Relaxed)
    }

    fn step(&mut self, random: &mut Random) {
        self.hands.forward(SECOND);
        match random.below(20) {
            0..8 => self.put(random),
            8..14 => self.next(random),
            14..17 => self.settle(random, true),
            17 | 18 => self.settle(random, false),
            _ if random.below(4) == 0 => self.restart(),
            _ => self.hands.forward(random.below(AGE)),
        }
    }

    fn kind(random: &mut Random) -> (Spooled, Encoding) {
        let signal = if random.below(3) == 0 { Spooled::Logs } else { Spooled::Traces };
        (signal, if random.below(4) == 0 { Encoding::Json } else { Encoding::Protobuf })
    }

    fn put(&mut self, random: &mut Random) {
        let (signal, encoding) = Self::kind(random);
        let (id, items, time) = (self.puts, 1 + random.below(100), self.now());
        self.puts += 1;
        let mut bytes = id.to_le_bytes().to_vec();
        bytes.resize(8 + random.below(3 * 4096) as usize, id as u8);
        let blocks = (40 + bytes.len() as u64).div_ceil(4096);

        self.model.expire(time);
        let room = self.model.make_room(blocks);
        let put = self.spool.put(&Entry { signal, encoding, items, bytes: &bytes, account: account() });
        assert_eq!(put.map_err(|refused| refused.reason), room.then_some(()).ok_or(Reason::NoSpace));
        if room {
            self.model.kept.push(Kept { id, signal, encoding, items, time, blocks, claimed: false });
        }
        let figures = self.spool.figures();
        assert_eq!(self.spool.bytes(), figures.bytes);
        assert_eq!(figures.files, self.model.kept.len() as u64);
        assert_eq!(figures.bytes, self.model.kept.iter().map(|kept| kept.blocks * 4096).sum::<u64>());
        assert_eq!(figures.items, self.model.kept.iter().map(|kept| (kept.signal, kept.items)).collect());
    }

    fn next(&mut self, random: &mut Random) {
        let (signal, encoding) = Self::kind(random);
        let now = self.now();
        let expected = self.model.next(signal, encoding, now);
        let claimed = self.spool.next(signal, encoding);
        let Some((expected, claimed)) = expected.zip(claimed) else {
            let expected = self.model.next(signal, encoding, now).map(|kept| kept.id);
            // If one of the two has no request, neither has the other.
            assert_eq!((expected, self.spool.next(signal, encoding).map(|claimed| claimed.items)), (None, None));
            return;
        };
        assert_eq!(id(&claimed), expected.id);
        assert!(claimed.bytes[8..].iter().all(|byte| *byte == expected.id as u8));
        assert_eq!((claimed.items, claimed.name.signal, claimed.name.encoding), (expected.items, signal, encoding));
        expected.claimed = true;
        self.claimed.push(claimed);
    }

    /// Releases or removes a claimed request.
    fn settle(&mut self, random: &mut Random, done: bool) {
        if self.claimed.is_empty() {
            return;
        }
        let claimed = self.claimed.swap_remove(random.below(self.claimed.len() as u64) as usize);
        let at = self.model.kept.iter().position(|kept| kept.id == id(&claimed)).unwrap();
        if done {
            self.model.kept.remove(at);
            claimed.done();
        } else {
            self.model.kept[at].claimed = false;
            claimed.back();
        }
    }

    fn restart(&mut self) {
        self.claimed.clear();
        self.model.kept.iter_mut().for_each(|kept| kept.claimed = false);
        let now = self.now();
        self.model.expire(now);
        self.lost += self.spool.lost();
        self.spool = Self::open(&self.scratch, &self.hands);
    }

    fn end(mut self) {
        self.restart();
        self.lost += self.spool.lost();
        let all = |tally: Tally| tally.ours.traces + tally.ours.logs + tally.others.traces + tally.others.logs;
        assert_eq!((all(self.lost.evicted), all(self.lost.expired)), (self.model.evicted, self.model.expired));
        assert_eq!((self.lost.set_aside, self.lost.damaged), (0, Tally::default()));
        assert_eq!(self.scratch.names().len(), self.model.kept.len());
    }
}

fn id(claimed: &Claimed) -> u64 {
    u64::from_le_bytes(*claimed.bytes.first_chunk().unwrap())
}

#[test]
fn a_spool_does_what_its_model_does() {
    for seed in 1..=8 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut both = Both::new();
        for _ in 0..150 {
            both.step(&mut random);
        }
        assert!(both.puts > 20, "seed {seed}");
        both.end();
    }
}
