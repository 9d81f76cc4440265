// Compares the table of driven rooms in docs/design.md with the files that schedules enter.
//
// A row says "all", "all but" some files, some files, or "nothing". Files of up to 30 lines and files without a function are not judged.
import { parseSource, walk } from "../architecture/syntax-tree.ts";

export interface DrivenRoom {
	/** For example "agent/server". Files directly in the folder "agent" belong to the room "agent". */
	readonly room: string;
	readonly isAll: boolean;
	/** With `isAll` the files that are not driven, otherwise the files that are. */
	readonly files: readonly string[];
}

export interface SourceFile {
	readonly path: string;
	readonly text: string;
}

const longestUnjudged = 30;
const heading = "| Room | The exploration drives |";
const functions: ReadonlySet<string> = new Set([
	"ArrowFunctionExpression",
	"FunctionDeclaration",
	"FunctionExpression",
]);

/** Throws if the page has no such table, or if a row names no file and is neither "all" nor "nothing". */
export function readDrivenRooms(page: string): readonly DrivenRoom[] {
	const [, table] = page.split(heading);
	if (table === undefined) throw new Error(`docs/design.md has no table with "${heading}"`);
	const rows = (table.split("\n\n")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
	return rows.map((row) => {
		const [, room = "", driven = ""] = row.split("|").map((cell) => cell.trim());
		const files = namesIn(driven).filter((name) => /\.tsx?$/.test(name));
		const isAll = driven.startsWith("all");
		if (!isAll && !driven.startsWith("nothing") && files.length === 0) throw new Error(`It names no file: ${row}`);
		return { room: (namesIn(room)[0] ?? "").replace(/\/$/, ""), isAll, files };
	});
}

/** Folders below a room belong to the room. */
function roomOf(path: string): string {
	const [folder = "", room = "", ...rest] = path.split("/");
	return rest.length > 0 ? `${folder}/${room}` : folder;
}

/** Returns one text for each problem. `entered` has the paths of the files that schedules enter. */
export function judgeDrivenRooms(
	rooms: readonly DrivenRoom[],
	{ sources, entered }: { readonly sources: readonly SourceFile[]; readonly entered: ReadonlySet<string> },
): readonly string[] {
	const byName = new Map(rooms.map((room) => [room.room, room]));
	const there = new Set(sources.map(({ path }) => roomOf(path)));
	const paths = new Set(sources.map(({ path }) => path));
	return [
		...[...there].filter((room) => !byName.has(room)).map((room) => `${room}/ is not in the table`),
		...rooms.filter(({ room }) => !there.has(room)).map(({ room }) => `${room}/ is in the table and not there`),
		...rooms.flatMap(({ room, files }) =>
			files.filter((file) => !paths.has(`${room}/${file}`)).map((file) => `${room}/${file} is not there`),
		),
		...sources.filter(isJudged).flatMap(({ path }) => {
			const room = byName.get(roomOf(path));
			if (!room) return [];
			const isDriven = room.files.includes(path.slice(room.room.length + 1)) !== room.isAll;
			if (isDriven === entered.has(path)) return [];
			return isDriven
				? `${path}: the table calls it driven, and no schedule enters it`
				: `${path}: schedules enter it, and the table calls it not driven`;
		}),
	];
}

function isJudged({ path, text }: SourceFile): boolean {
	// The last line ends with a newline too, so nothing follows it.
	if (text.trimEnd().split("\n").length <= longestUnjudged) return false;
	let hasFunction = false;
	walk(parseSource(path, text), (node) => {
		if (functions.has(node.type)) hasFunction = true;
		return hasFunction ? "skip" : undefined;
	});
	return hasFunction;
}

function namesIn(text: string): readonly string[] {
	return [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}
