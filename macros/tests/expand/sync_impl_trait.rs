#[tc_span("Store/Names")]
fn names(&self) -> impl Iterator<Item = &str> {
    self.names.iter().map(String::as_str)
}
