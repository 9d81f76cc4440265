import { expect, test } from "vitest";
import { drivenSources, withAwaitPoints } from "./driven-sources.ts";

test("withAwaitPoints() puts a call around what is awaited, with its file and line", () => {
	const text = "async function f(): Promise<void> {\n\tawait g(await h());\n\tfor await (const x of y) x();\n}\n";
	expect(withAwaitPoints("agent/leases/a.ts", text)).toBe(
		"async function f(): Promise<void> {\n" +
			'\tawait globalThis.awaitPoint(g(await globalThis.awaitPoint(h(), "agent/leases/a.ts:2")), "agent/leases/a.ts:2");\n' +
			"\tfor await (const x of y) x();\n}\n",
	);
});

test("drivenSources() has what plugins, agents and the domain await", () => {
	const files = [...drivenSources(undefined).keys()];
	for (const file of ["plugin/evictions/evictions.ts", "agent/leases/local-cluster.ts", "disruption/round/round.ts"])
		expect(files.some((url) => url.endsWith(file))).toBe(true);
	expect(files.filter((url) => url.includes("/test/"))).toEqual([]);
});
