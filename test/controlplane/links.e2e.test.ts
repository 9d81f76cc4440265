import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { connectFleet } from "./fleet-control.ts";
import { describeOnFleet, sharedFleet } from "./shared-fleet.ts";

const run = promisify(execFile);

async function readyz(context: string): Promise<string> {
	const { dir, kubeconfigPath } = sharedFleet();
	const args = ["--kubeconfig", kubeconfigPath, "--context", context, "get", "--raw", "/readyz"];
	return (await run(join(dir, "bin", "kubectl"), args)).stdout;
}

describeOnFleet("the links of the fleet", () => {
	afterEach(() => connectFleet(sharedFleet().octet).setLink("plugin->c1", {}));

	test("there is one from the plugin and from each cluster's agents to each cluster", async () => {
		const names = await connectFleet(sharedFleet().octet).listLinks();
		const callers = ["plugin", "c1", "c2", "c3"];
		expect(names.toSorted()).toEqual(
			callers.flatMap((from) => ["c1", "c2", "c3"].map((to) => `${from}->${to}`)).toSorted(),
		);
	});

	test("operators go over a link, the administrator does not", async () => {
		await connectFleet(sharedFleet().octet).setLink("plugin->c1", { cut: true });
		await expect(readyz("c1-operator")).rejects.toThrow(/EOF|reset/);
		expect(await readyz("c1")).toBe("ok");
		await connectFleet(sharedFleet().octet).setLink("plugin->c1", {});
		expect(await readyz("c1-operator")).toBe("ok");
	});
});
