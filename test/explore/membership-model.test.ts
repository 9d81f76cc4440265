import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { exploreMembership, membershipScenarios } from "./membership-model.ts";
import { membershipMutants } from "./membership-mutants.ts";

const schedules = 500;
/** The mutant that is hardest to catch takes 1,300 schedules. */
const mostUntilCaught = 20_000;

describe("The rule about members holds", () => {
	for (const scenario of membershipScenarios) {
		test(scenario.name, async () => {
			expect(await exploreMembership(scenario, schedules)).toEqual({ schedules, violation: undefined });
		});
	}
});

describe("and breaks without", () => {
	for (const { name, without } of membershipMutants) {
		test(without, async () => {
			const workerData = { name, most: mostUntilCaught };
			const worker = new Worker(new URL("membership-worker.ts", import.meta.url), { workerData });
			// It ends by itself. Node has crashed at the end of a worker that was terminated.
			const ended = once(worker, "exit");
			const [violation]: unknown[] = await once(worker, "message");
			await ended;
			expect(violation).toMatch(/obeys|refuses/);
		});
	}
});
