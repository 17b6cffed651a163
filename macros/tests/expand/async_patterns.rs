#[tc_span("Store/Put", no_message, attrs(keys::bytes = size))]
async fn put(mut key: Key, (a, _): (u8, u8), Sized { size }: Sized, _: Guard, _lock: Lock, #[cfg(unix)] mode: u32) -> Result<u8, StoreError> {
    key.touch();
    Ok(a)
}
