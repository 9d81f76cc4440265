// Describes a situation in which kubectl and kubectl xpdb are compared: its objects, its commands, and what happens meanwhile.
import type { Place } from "./objects.ts";
import type { RunningCommand } from "./running-command.ts";
import type { Scene, Scenery } from "./scene.ts";

export interface Situation extends Scenery {
	readonly name: string;
	/** Runs when all objects exist and their pods run. */
	readonly prepare?: (scene: Scene) => Promise<void>;
	/** Command lines without the program, run in order. */
	readonly commands: (place: Place) => readonly (readonly string[])[];
	/** Runs during the first command. */
	readonly during?: (scene: Scene, command: RunningCommand) => Promise<void>;
	/** Whether it takes longer than the interval of the plugin's progress lines. */
	readonly takesLong?: boolean;
	/** Whether the number of attempts per pod depends on timing. */
	readonly triesVary?: boolean;
	/** By default the operator. */
	readonly user?: "admin" | "operator";
	/** Whether the command line itself names a context or a kubeconfig. */
	readonly ownContext?: boolean;
	/** Added to the environment of every command. */
	readonly env?: Readonly<Record<string, string>>;
	/** Whether it runs in a cluster with neither agents nor xpdb's CRD. */
	readonly withoutAgents?: boolean;
}

export type SituationOptions = Omit<Situation, "name" | "commands">;

export function drain(name: string, flags: readonly string[], options: SituationOptions = {}): Situation {
	return { ...options, name, commands: (place) => [["drain", place.node("a"), ...flags]] };
}

/** Returns a situation of one command line, by default without nodes and objects. */
export function typed(name: string, line: readonly string[], options: SituationOptions = {}): Situation {
	return { nodes: {}, ...options, name, commands: () => [line] };
}
