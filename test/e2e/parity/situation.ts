// One situation in which kubectl and kubectl xpdb are compared: what there is, what is typed, what happens meanwhile.
import type { Place } from "./objects.ts";
import type { RunningCommand } from "./running-command.ts";
import type { Scene, Scenery } from "./scene.ts";

export interface Situation extends Scenery {
	readonly name: string;
	/** When all objects are there and their pods run. */
	readonly prepare?: (scene: Scene) => Promise<void>;
	/** Command lines, without the program; they run one after the other. */
	readonly commands: (place: Place) => readonly (readonly string[])[];
	/** While the first command runs. */
	readonly during?: (scene: Scene, command: RunningCommand) => Promise<void>;
	/** Longer than the plugin waits before it tells how far it is. */
	readonly takesLong?: boolean;
	/** How often a pod is tried depends on how fast something else happens. */
	readonly triesVary?: boolean;
	/** As whom; the operator of the fleet unless said otherwise. */
	readonly user?: "admin" | "operator";
	/** What is typed says which context, or which kubeconfig. */
	readonly ownContext?: boolean;
	/** Beside what every command is given. */
	readonly env?: Readonly<Record<string, string>>;
	/** In a cluster that has neither agents nor our kind of budgets. */
	readonly withoutAgents?: boolean;
}

export type SituationOptions = Omit<Situation, "name" | "commands">;

/** `kubectl drain` of node "a" with these flags. */
export function drain(name: string, flags: readonly string[], options: SituationOptions = {}): Situation {
	return { ...options, name, commands: (place) => [["drain", place.node("a"), ...flags]] };
}

/** A command line that is wrong or asks for nothing that is there: it needs no objects. */
export function typed(name: string, line: readonly string[], options: SituationOptions = {}): Situation {
	return { nodes: {}, ...options, name, commands: () => [line] };
}
