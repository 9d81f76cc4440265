import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AddressInUseError } from "./fleet-errors.ts";
import { prepareFleetDir, writeFleetState } from "./fleet-dir.ts";
import { claimOctet } from "./octet.ts";

let dir = "";
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), "xpdb-fleet-dir-"));
	mkdirSync(join(dir, "c1"));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe("prepareFleetDir()", () => {
	test("replaces an earlier fleet whose state file was cut off, whatever uses the addresses from 127.0.0.1 on", async () => {
		writeFileSync(join(dir, "fleet.json"), '{"pid": 12');
		writeFileSync(join(dir, "notes.txt"), "");
		// A cluster of the user may already listen there.
		const claimed = await claimOctet({ octet: 0 }).catch((error: unknown) => {
			if (!(error instanceof AddressInUseError)) throw error;
		});
		try {
			await prepareFleetDir(dir);
		} finally {
			await claimed?.release();
		}
		expect(["c1", "fleet.json", "notes.txt"].map((name) => existsSync(join(dir, name)))).toEqual([false, false, true]);
	});

	test("refuses the folder of a fleet that still runs", async () => {
		const claimed = await claimOctet({ from: 200 });
		try {
			writeFleetState(dir, { pid: process.pid, octet: claimed.value, clusters: [] });
			await expect(prepareFleetDir(dir)).rejects.toThrow(`another one runs there, as process ${process.pid}`);
		} finally {
			await claimed.release();
		}
		expect(existsSync(join(dir, "c1"))).toBe(true);
	});
});
