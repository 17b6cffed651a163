#[tc_span(db(system = "postgresql", collection = table, operation = "select"))]
fn rows(table: &str) -> Vec<Row> {
    query(table)
}
