#[tc_span(component = "Store", methods = pub)]
impl Store {
    pub fn open(path: &Path) -> Self {
        Self { path }
    }
    #[tc_span(kind = server)]
    async fn load_all(&self) {}
    fn private(&self) {}
}
