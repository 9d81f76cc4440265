// Formats the plan of an installation, cluster by cluster: what is created, changed, skipped and in conflict.
import { type ClusterObject, objectText } from "./cluster-object.ts";
import { type ClusterChanges, type ObjectChange, valueText } from "./find-changes.ts";

/** The most changed fields of one object that are shown. The others are only counted. */
const maxFields = 12;

/** Changes that are the same in all clusters are printed once. */
export function changeLines(fleet: readonly ClusterChanges[]): readonly string[] {
	const blocks = fleet.map(({ changes }) => changes.map((change) => linesOf(change).join("\n")).filter(Boolean));
	const [first = [], ...others] = blocks;
	const common = new Set(
		others.length === 0 ? [] : first.filter((block) => others.every((each) => each.includes(block))),
	);
	const names = fleet.map(({ cluster }) => cluster.found.context.name).join(", ");
	const alike = common.size === 0 ? [] : [`In all of ${names}:`, ...first.filter((block) => common.has(block))];
	const lines = [
		...alike,
		...fleet.flatMap(({ cluster, changes }, index) => {
			const count = (kind: ObjectChange["kind"]): number => changes.filter((change) => change.kind === kind).length;
			const sums = (["created", "changed", "removed", "unchanged", "left", "kept"] as const)
				.filter((kind) => count(kind) > 0)
				.map((kind) => `${count(kind)} ${sumWords[kind]}`);
			const { context, id } = cluster.found;
			const own = (blocks[index] ?? []).filter((block) => !common.has(block));
			return [`${context.name} (cluster ${id}): ${sums.join(", ")}`, ...own];
		}),
	];
	return lines.flatMap((block) => block.split("\n"));
}

const sumWords = {
	created: "to create",
	changed: "to change",
	removed: "to delete",
	unchanged: "unchanged",
	left: "skipped",
	kept: "in conflict",
} as const;

function linesOf(change: ObjectChange): readonly string[] {
	const what = `${objectText(change.object)}${placeText(change.object)}`;
	switch (change.kind) {
		case "unchanged":
			return [];
		case "created":
			return [`  + ${what}`];
		case "removed":
			return [`  - ${what}`];
		case "left":
			return [`  = ${what}: ${change.why}`];
		case "kept":
			return [
				`  ! ${what}${change.anew === undefined ? "" : ": cannot be changed, only be made anew"}`,
				...change.conflicts.map((conflict) => `      ${conflict}`),
			];
		case "changed": {
			const shown = change.fields.slice(0, maxFields).map(({ path, from, to }) => {
				return `      ${path}: ${valueText(change.object, from)} -> ${valueText(change.object, to)}`;
			});
			const more = change.fields.length - shown.length;
			return [`  ~ ${what}`, ...shown, ...(more > 0 ? [`      and ${more} more fields`] : [])];
		}
	}
}

function placeText({ metadata }: ClusterObject): string {
	return metadata.namespace === undefined ? "" : ` in ${metadata.namespace}`;
}
