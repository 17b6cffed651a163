//! For a server of tonic: passes messages through it as the bytes that they are.

use bytes::{Buf, BufMut, Bytes};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Neither encodes nor decodes.
pub struct Passing;

impl Codec for Passing {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Passing;
    type Decoder = Passing;

    fn encoder(&mut self) -> Passing {
        Passing
    }

    fn decoder(&mut self) -> Passing {
        Passing
    }
}

impl Encoder for Passing {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.reserve(message.len());
        out.put(message);
        Ok(())
    }
}

impl Decoder for Passing {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}
