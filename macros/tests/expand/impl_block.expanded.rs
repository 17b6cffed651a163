impl Store {
    #[::tracecast::tc_span("Store/Open")]
    pub fn open(path: &Path) -> Self {
        Self { path }
    }
    #[tc_span("Store/LoadAll", kind = server)]
    async fn load_all(&self) {}
    fn private(&self) {}
}
