// Situations about choosing and cordoning nodes, with drain, cordon and uncordon.
import { admissionPolicy, type Place, statefulSet, viewer } from "./objects.ts";
import { drain, type Situation, type SituationOptions } from "./situation.ts";

const three = { a: { pool: "old" }, b: { pool: "old" }, c: { pool: "new" } };
const web = (place: Place) => [statefulSet(place, "web", 1)];
const selected = (place: Place, pool = "old"): string =>
	`kubernetes.io/hostname in (${["a", "b", "c"].map(place.node).join(", ")}),pool=${pool}`;

function command(name: string, line: (place: Place) => readonly string[], options: SituationOptions = {}): Situation {
	return { nodes: three, ...options, name, commands: (place) => [line(place)] };
}

function bothWays(
	name: string,
	words: (place: Place) => readonly string[],
	options: SituationOptions = {},
): readonly Situation[] {
	return ["cordon", "uncordon"].map((verb) =>
		command(`${verb}: ${name}`, (place) => [verb, ...words(place)], { cordoned: ["b"], ...options }),
	);
}

const nodesStay = (place: Place) =>
	admissionPolicy(place, {
		resource: "nodes",
		operation: "UPDATE",
		// Only administrators may still cordon nodes, to prepare the situation. Dry runs are refused, to show that the policy is in force.
		expression:
			'has(object.spec.unschedulable) == has(oldObject.spec.unschedulable) || ("system:masters" in request.userInfo.groups && !request.dryRun)',
		message: "nodes stay as they are",
	});

export const nodeSituations: readonly Situation[] = [
	command("drain: a node that is not there", () => ["drain", "no-such-node"]),
	command(
		"drain: one of two nodes is not there: nothing is touched",
		(place) => ["drain", place.node("a"), "no-such-node"],
		{ objects: web },
	),
	command("drain: several nodes, one after the other", (place) => ["drain", place.node("b"), place.node("a")], {
		objects: (place) => [...web(place), statefulSet(place, "other", 1, { node: "b" })],
	}),
	command("drain: the same node twice", (place) => ["drain", place.node("a"), place.node("a")], { objects: web }),
	command("drain: node/NAME", (place) => ["drain", `node/${place.node("a")}`], { objects: web }),
	command("drain: nodes/NAME and no/NAME", (place) => ["drain", `nodes/${place.node("a")}`, `no/${place.node("b")}`]),
	command("drain: TYPE/NAME of another type", () => ["drain", "pod/web-0"]),
	command("drain: TYPE/NAME of a type that is not there", () => ["drain", "rockets/web-0"]),
	command("drain: the type as a word of its own", (place) => ["drain", "node", place.node("a")]),
	command("drain: too many slashes", () => ["drain", "node/a/b"]),
	...["drain", "cordon", "uncordon"].flatMap((verb) => [
		command(`${verb}: a name that is empty`, () => [verb, ""]),
		command(`${verb}: one of two names is empty`, (place) => [verb, place.node("a"), ""]),
		command(`${verb}: TYPE/ without a name`, () => [verb, "node/"]),
		command(`${verb}: /NAME without a type`, () => [verb, "/web-0"]),
		command(`${verb}: the name ..`, () => [verb, ".."]),
		command(`${verb}: a name with a per cent sign`, () => [verb, "node/a%2fb"]),
	]),
	command("drain: a client's dry run of a name that is empty", () => ["drain", "", "--dry-run=client"]),
	command("drain: a name that is empty and -l", () => ["drain", "", "-l", "a=b"]),
	command("drain: a name that no node can have", () => ["drain", "No_Such Node"]),
	command("drain: a node that is cordoned already", (place) => ["drain", place.node("a")], {
		objects: web,
		cordoned: ["a"],
	}),
	command("drain: a client's dry run of a cordoned node", (place) => ["drain", place.node("a"), "--dry-run=client"], {
		cordoned: ["a"],
	}),
	command("drain: nodes by -l", (place) => ["drain", "-l", selected(place)], { objects: web }),
	command("drain: -l that matches nothing", (place) => ["drain", `--selector=${selected(place, "none")}`]),
	drain("drain: a node that cannot be cordoned", [], {
		objects: (place) => [...web(place), ...nodesStay(place)],
		prepare: async (scene) => scene.refusesCordon(),
	}),
	...["", "--warnings-as-errors"].map((flag) =>
		command(
			`cordon: a policy warns ${flag}`.trim(),
			(place) => ["cordon", place.node("a"), place.node("c"), flag].filter(Boolean),
			{
				objects: (place) =>
					admissionPolicy(place, {
						resource: "nodes",
						operation: "UPDATE",
						expression: "!has(object.spec.unschedulable)",
						message: "think twice",
						warns: true,
					}),
				prepare: async (scene) => scene.refusesCordon(),
			},
		),
	),
	...bothWays("-v=6", (place) => [place.node("a"), "-v=6"]),
	...bothWays("one", (place) => [place.node("a")]),
	...bothWays("several, one of them already", (place) => [place.node("a"), place.node("b"), place.node("c")]),
	...bothWays("already", (place) => [place.node("b"), place.node("b")], { cordoned: [] }),
	...bothWays("the same twice", (place) => [place.node("a"), place.node("b"), place.node("a"), place.node("b")]),
	...bothWays("node/NAME", (place) => [`node/${place.node("a")}`, `node/${place.node("b")}`]),
	...bothWays("by -l", (place) => ["-l", selected(place)]),
	...bothWays("-l that matches nothing", (place) => ["-l", selected(place, "none")]),
	...bothWays("a client's dry run", (place) => [place.node("a"), place.node("b"), "--dry-run=client"]),
	...bothWays("a server's dry run", (place) => [place.node("a"), place.node("b"), "--dry-run=server"]),
	...bothWays("--dry-run by itself", (place) => [place.node("a"), place.node("b"), "--dry-run"]),
	...bothWays("not there", () => ["no-such-node"]),
	...bothWays("one of two is not there", (place) => [place.node("a"), place.node("b"), "no-such-node"]),
	...bothWays("-l and a name", (place) => [place.node("a"), "-l", "a=b"]),
	...bothWays("no node", () => []),
	...bothWays("refused by a policy", (place) => [place.node("a"), place.node("b")], {
		objects: nodesStay,
		prepare: async (scene) => scene.refusesCordon(),
	}),
	...bothWays("without the right", (place) => [place.node("a"), place.node("b"), "--as=mallory"], {
		objects: (place) => viewer(place, "mallory"),
		user: "admin",
	}),
];
