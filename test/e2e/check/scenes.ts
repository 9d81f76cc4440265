// Every code of `check` as it is got on real clusters: which suite plays which faults.
import { test } from "vitest";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { agentsScenes } from "./agents-scenes.ts";
import { expectScene } from "./expect-scene.ts";
import type { Scene } from "./provocation.ts";
import { rightsScenes } from "./rights-scenes.ts";

/** Each has a suite of its name. */
export const scenes = {
	agents: agentsScenes,
	rights: rightsScenes,
} as const satisfies Readonly<Record<string, readonly Scene[]>>;

export function describeScenes(group: keyof typeof scenes): void {
	describeOnFleet(`check finds, and what it tells to do helps: ${group}`, () => {
		for (const scene of scenes[group]) test(scene.name, () => expectScene(scene));
	});
}
