// `npm run pictures` records the pictures in docs/pictures/ in real terminals: `npm start`, and drains of three real clusters.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { startFleet } from "../controlplane/fleet.ts";
import { playDrains } from "./drains.ts";
import { record } from "./recording.ts";

const { only } = await yargs(hideBin(process.argv))
	.scriptName("npm run pictures --")
	.option("only", {
		choices: ["start", "fleet"] as const,
		describe: "start: npm start alone, without Go; fleet: the drains",
	})
	.strict()
	.version(false)
	.parse();

const folder = join(repositoryRoot, "docs", "pictures");
mkdirSync(folder, { recursive: true });

function save(name: string, picture: string): void {
	writeFileSync(join(folder, `${name}.svg`), picture);
	console.log(`docs/pictures/${name}.svg (${Math.round(picture.length / 1_024)} KiB)`);
}

if (only !== "fleet") {
	const args = [join(repositoryRoot, "demo", "main.ts")];
	const start = record({ program: process.execPath, args, columns: 100, rows: 26 });
	save("start", await start.moving("npm start: a drain of three small clusters under one budget, on its screen"));
}
if (only !== "start") {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-pictures-"));
	const fleet = await startFleet({ clusters: 3, nodes: 3, dir, log: (line) => console.log(line) });
	try {
		await playDrains(fleet, save);
	} finally {
		await fleet.stop();
		rmSync(dir, { recursive: true, force: true });
	}
}
process.exit(0);
