// The floor plan: the rooms of each folder, from the top floor down. An arrow points down only, never up and never to a room on
// the same floor. CONTRIBUTING.md draws it; the test beside this file holds the two together.

/** Rooms on one floor do not import each other; "" is what lies in the folder itself. */
export const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
	plugin: [
		[""],
		["commands"],
		["run"],
		["check"],
		["install", "picture", "ui"],
		["output"],
		["plan"],
		["drain"],
		["evictions"],
		["fleet", "nodes"],
		["events"],
		["kubernetes"],
		["flags"],
		["terminal"],
	],
	agent: [[""], ["server"], ["peers"], ["leases"], ["views"], ["cluster-api"], ["kubernetes"], ["tls"], ["process"]],
	// What has no room of its own, errors and words, is below all of it.
	disruption: [["round"], ["lease"], ["budget"], [""]],
	demo: [[""], ["agents", "apiserver", "audit"], ["machine"]],
};

/** Drawn, and not built yet. */
export const unbuiltRooms: ReadonlySet<string> = new Set([]);

/** Files outside the domain that are as pure as it: what a plan computes from what was read. */
export const pureFiles: ReadonlySet<string> = new Set([
	"plugin/plan/drain-plan.ts",
	"plugin/plan/drain-queue.ts",
	"plugin/plan/simulate-drain.ts",
	"plugin/plan/simulated-counts.ts",
]);

/** What is wrong with an import between two files of one folder; undefined where it is as the plan says. */
export function judgeRooms(file: string, path: string): string | undefined {
	const [from, to] = [placeOf(file), placeOf(path)];
	if (from === undefined || to === undefined || from.folder !== to.folder || from.room === to.room) return undefined;
	if (from.floor < 0) return `is in ${from.folder}/${from.room}/, which the floor plan does not have`;
	if (to.floor > from.floor) return undefined;
	return `imports ${path}: ${nameOf(from)} may not import ${nameOf(to)}, which is not below it`;
}

interface Place {
	readonly folder: string;
	readonly room: string;
	readonly floor: number;
}

function placeOf(path: string): Place | undefined {
	const [folder = "", room = "", ...rest] = path.split("/");
	const plan = floors[folder];
	if (!plan) return undefined;
	const inRoom = rest.length > 0 ? room : "";
	return { folder, room: inRoom, floor: plan.findIndex((floor) => floor.includes(inRoom)) };
}

function nameOf({ folder, room }: Place): string {
	return room === "" ? folder : `${folder}/${room}`;
}
