// Validates the output of `npm run package` as krew's index does: its validator installs the archive of every platform, from loopback. Exit
// code 3 means that krew is missing.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { targets } from "../../scripts/package/targets.ts";
import { serveArchives } from "./archive-server.ts";
import { createKrewHome, findKrew } from "./krew-home.ts";

const { values } = parseArgs({ options: { packages: { type: "string", default: join("dist", "package") } } });
const programs = await findKrew();
if (programs.kind === "missing") {
	console.log(programs.reason);
	process.exit(3);
}
const folder = mkdtempSync(join(tmpdir(), "xpdb-krew-"));
const server = await serveArchives(values.packages);
try {
	const released = readFileSync(join(values.packages, "xpdb.yaml"), "utf8");
	const manifest = join(folder, "xpdb.yaml");
	writeFileSync(manifest, released.replaceAll(/(?<=^\s+uri: ).*(?=\/)/gm, server.url));
	const { code, stdout, stderr } = await createKrewHome(join(folder, "home"), programs).validate(manifest);
	console.log(`${stdout}${stderr}`);
	const isWhole = stderr.includes(`all ${targets.length} spec.platforms installed fine`);
	if (!isWhole) console.log(`They are not all of the ${targets.length} platforms`);
	process.exitCode = code === 0 && isWhole ? 0 : 1;
} finally {
	server.close();
	rmSync(folder, { recursive: true, force: true });
}
