//! `cargo xtask engines up`: a real PostgreSQL for trying things out by hand.

use anyhow::Context;
use testbed::Postgres;

const DATABASE: &str = "podo";

/// Starts the engine and stays until the end of stdin. Ctrl-C needs no handling: the engine's
/// guard sees that we are gone, ends it and deletes its folder.
pub(crate) fn up() -> anyhow::Result<()> {
    let store = Postgres::start()?;
    store.create_database(DATABASE)?;
    print!("{}", describe(&store.url(DATABASE)));
    let read = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    read.map(drop).context("stdin cannot be read")
}

fn describe(store_url: &str) -> String {
    format!(
        "export PODO_STORE_URL={store_url}\n\
         \n\
         PostgreSQL is up; its data is deleted at Ctrl-C or Ctrl-D\n"
    )
}

#[test]
fn the_setting_can_be_copied_into_a_shell() {
    let text = describe("postgres://a");
    assert_eq!(text.lines().next(), Some("export PODO_STORE_URL=postgres://a"));
}
