// Lists the scenes that provoke the codes of `check`, by suite.
import { afterAll, beforeAll, test } from "vitest";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { accessScenes } from "./access-scenes.ts";
import { agentsScenes } from "./agents-scenes.ts";
import { budgetsScenes } from "./budgets-scenes.ts";
import { expectScene } from "./expect-scene.ts";
import { fleetScenes } from "./fleet-scenes.ts";
import { installationScenes, startInstallation } from "./installation-scenes.ts";
import type { Scene } from "./provocation.ts";
import { rightsScenes } from "./rights-scenes.ts";

export const scenes = {
	agents: agentsScenes,
	budgets: budgetsScenes,
	fleet: [...accessScenes, ...fleetScenes],
	installation: installationScenes,
	rights: rightsScenes,
} as const satisfies Readonly<Record<string, readonly Scene[]>>;

export function describeScenes(group: keyof typeof scenes, options: { readonly concurrent?: boolean } = {}): void {
	const suite = (): void => {
		let place: Awaited<ReturnType<typeof startInstallation>> | undefined;
		if (group === "installation") {
			beforeAll(async () => {
				place = await startInstallation();
			});
			afterAll(async () => {
				await place?.[Symbol.asyncDispose]();
			});
		}
		for (const scene of scenes[group]) test(scene.name, () => expectScene(scene, place));
	};
	describeOnFleet(`check finds, and what it tells to do helps: ${group}`, suite, options);
}
