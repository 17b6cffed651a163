#[tc_span("Store/Flush")]
pub fn flush(&self) {
    self.cache.clear();
}
