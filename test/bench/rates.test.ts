import { expect, test } from "vitest";
import { Places } from "../../disruption/round/places.ts";
import { lanesPerCluster } from "./rates.ts";

test("lanesPerCluster is the number of evictions that the plugin sends to one API server at a time", async () => {
	const places = new Places();
	const over = new AbortController();
	const turns = Array.from({ length: 2 * lanesPerCluster }, () => places.keep("c1").turn(over.signal));
	over.abort();
	const sent = await Promise.all(turns);
	expect(sent.filter((isSent) => isSent)).toHaveLength(lanesPerCluster);
});
