import { describe, expect, test } from "vitest";
import type { FleetControl } from "../controlplane/fleet-control.ts";
import { makeFault } from "./soak-faults.ts";

function controlOf(agents: readonly { readonly name: string; readonly pid: number | undefined }[]): FleetControl {
	const control: Pick<FleetControl, "listAgents" | "listLinks"> = {
		listAgents: async () =>
			agents.map((agent) => ({ ...agent, namespace: "", ip: "", ready: true, restartCount: 0, logFile: "" })),
		listLinks: async () => ["plugin->c1"],
	};
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no fault is started
	return control as FleetControl;
}

/** Returns the names of 60 faults that a fixed sequence of choices produces. */
async function namesOf(control: FleetControl): Promise<readonly string[]> {
	let step = 0;
	const random = (): number => {
		step = (step + 0.137) % 1;
		return step;
	};
	const names: string[] = [];
	const forget = async () => async () => undefined;
	const world = { control, clusters: ["c1"], random, forget };
	for (let count = 0; count < 60; count += 1) names.push((await makeFault(world)).name);
	return names;
}

describe("makeFault()", () => {
	test("breaks only agents that run", async () => {
		const names = await namesOf(
			controlOf([
				{ name: "on-its-way", pid: undefined },
				{ name: "running", pid: 7 },
			]),
		);
		expect(names).toContain("agent running of c1 killed");
		expect(names).toContain("agent running of c1 frozen");
		expect(names).toContain("member c1 forgotten by the others");
		expect(names).toContain("counts of c1 slow");
		expect(names.join("\n")).not.toContain("on-its-way");
	});

	test("breaks something else where no agent runs", async () => {
		const names = await namesOf(controlOf([{ name: "on-its-way", pid: undefined }]));
		expect(names.filter((name) => name.startsWith("agent"))).toEqual([]);
		expect(names.some((name) => name.startsWith("link plugin->c1"))).toBe(true);
	});
});
