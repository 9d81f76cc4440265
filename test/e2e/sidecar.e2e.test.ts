// Tests agents that are sidecars of the pods that they count: an agent ends with its own pod, and the drain completes.
import { afterEach, expect, test } from "vitest";
import { readTimeline } from "../../demo/audit/audit.ts";
import { findViolations, replayAvailability } from "../../demo/audit/availability.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { getJson, podsPath } from "./get-json.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";
import { type Sidecars, startSidecars } from "./sidecars.ts";

interface Container {
	readonly name: string;
	readonly volumeMounts?: readonly { readonly mountPath: string }[];
}

interface PodList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly uid: string };
		readonly spec: {
			readonly nodeName: string;
			readonly containers: readonly Container[];
			readonly initContainers: readonly Container[];
		};
	}[];
}

const context = "c1";

async function podsOf({ namespace }: Sidecars) {
	const { items } = await getJson<PodList>(context, podsPath(namespace, { labelSelector: "app=db" }));
	return items.map(({ metadata, spec }) => ({ ...metadata, ...spec, node: spec.nodeName }));
}

describeOnFleet("agents as sidecars of what they count", () => {
	afterEach(uncordonAll);

	test("go one after the other with their own pods, one of them at once, while the drain of all goes on to its end", async () => {
		await using sidecars = await startSidecars(context);
		const { namespace } = sidecars;
		const version = await plugin(["version", "--context", `${context}-operator`]);
		expect(version.code, version.stderr).toBe(0);
		const before = await podsOf(sidecars);
		// The API server must not have added the agent's mounts to the database's container.
		for (const { containers, initContainers } of before) {
			expect(containers.map(({ name, volumeMounts }) => [name, volumeMounts])).toEqual([["db", undefined]]);
			const mounts = initContainers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ mountPath }) => mountPath));
			expect(mounts).toContain("/var/run/secrets/kubernetes.io/serviceaccount");
		}
		// Leaves one of the three nodes for the replacements.
		const nodes = [...new Set(before.map(({ node }) => node))].slice(0, 2);
		const going = before.filter(({ node }) => nodes.includes(node));
		const flags = ["--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector=app=db", "-y"];
		using drain = startPlugin(["drain", ...nodes, "--context", `${context}-operator`, ...flags]);
		// Kills the agent in the first evicted pod, so that the drain loses the optimistic holds and the places in line that it has there.
		await drain.printed(`evicting pod ${namespace}/`);
		const [, victim] = new RegExp(`evicting pod ${namespace}/(\\S+)`).exec(drain.output()) ?? [];
		await sidecars.pods
			.list()
			.find(({ name }) => name === victim)
			?.process?.kill();
		const { code, stdout, stderr } = await drain.finished;
		expect(code, stdout + stderr).toBe(0);
		await sidecars.ready();
		const after = await podsOf(sidecars);
		for (const { name, uid } of going) {
			expect(stdout).toContain(`pod/${name} evicted`);
			expect(after.find((pod) => pod.name === name)?.uid).not.toBe(uid);
		}
		const events = await readTimeline(sharedFleet().clusters, { containing: namespace });
		const samples = replayAvailability(events, { namespace, matchLabels: { app: "db" }, expected: 3 });
		expect(samples.length).toBeGreaterThan(0);
		expect(findViolations(samples, { maxUnavailable: 1 })).toEqual([]);
	});
});
