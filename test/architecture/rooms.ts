// The floor plan: the rooms of each folder, from top to bottom. A room imports only from lower floors. CONTRIBUTING.md draws it, and
// ../architecture.test.ts compares the two.

/** Rooms on one floor do not import each other. "" stands for the folder's own files. */
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
	// Files without a room (errors and text) are below all rooms.
	disruption: [["round"], ["lease"], ["budget"], [""]],
	demo: [[""], ["agents", "apiserver", "audit"], ["machine"]],
};

export const unbuiltRooms: ReadonlySet<string> = new Set([]);

/** Files outside the domain that must be as pure: they compute a plan from facts. */
export const pureFiles: ReadonlySet<string> = new Set([
	"plugin/plan/drain-plan.ts",
	"plugin/plan/drain-queue.ts",
	"plugin/plan/simulate-drain.ts",
	"plugin/plan/simulated-counts.ts",
]);

/** Returns what is wrong with an import within one folder. Undefined if the floor plan allows it. */
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
