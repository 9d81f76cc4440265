// Makes the `-o json` record of a large drain: nodes of 100 pods in three contexts, under twenty budgets. Every fifth pod waits once.

const startedAt = Date.parse("2026-01-01T12:00:00Z");
const contexts = ["eu", "us", "ap"];
const podsPerNode = 100;
const budgets = 20;

type Timed = readonly [ms: number, event: object];

export function bigRecord(pods: number): string {
	const nodes = Array.from({ length: Math.ceil(pods / podsPerNode) }, (_, node) => nodeOf(node * podsPerNode));
	const names = nodes.map(({ context, node }) => `${context}/${node}`);
	const commandLine = `kubectl xpdb drain ${names.join(" ")} --contexts=${contexts.join(",")}`;
	const agents = Object.fromEntries(contexts.map((context) => [context, "0.1.0"]));
	const version = { type: "version", schema: "xpdb.events/1.0", client: "v0.1.0", command: "drain", commandLine };
	const moves = Array.from({ length: pods }, (_, pod) => movesOf(pod)).flat();
	const endMs = Math.max(...moves.map(([ms]) => ms)) + 1_000;
	const events: readonly Timed[] = [
		[0, { ...version, agents, op: "7f3c2a" }],
		[0, { type: "run.started", nodes: names, pods: [] }],
		...nodes.map((node): Timed => [1_000, { type: "node.cordoned", ...node, already: false }]),
		...moves.toSorted(([a], [b]) => a - b),
		...nodes.map((node): Timed => [endMs, { type: "node.drained", ...node }]),
		[endMs, summary(names, pods)],
	];
	return events
		.map(([ms, event], seq) => `${JSON.stringify({ ...event, ts: new Date(startedAt + ms).toISOString(), seq })}\n`)
		.join("");
}

function nodeOf(pod: number): { readonly context: string; readonly node: string } {
	const number = Math.floor(pod / podsPerNode);
	const context = contexts[number % contexts.length] ?? "";
	return { context, node: `ip-10-12-${number}-117.${context}.compute.internal` };
}

function movesOf(number: number): readonly Timed[] {
	const budget = `shop/checkout-${number % budgets}`;
	const pod = {
		...nodeOf(number),
		pod: `${budget}-6d9f7c5b8-${number.toString(36).padStart(5, "0")}`,
		uid: `u${number}`,
	};
	const counts = { need: 240, expected: 250 };
	const beginMs = 2_000 + (number % podsPerNode) * 600 + (number % 7) * 40;
	const waits = number % 5 === 0;
	const acceptedMs = beginMs + (waits ? 4_000 : 200);
	const changed = (ms: number, healthy: number): Timed => [
		ms,
		{ type: "budget.changed", budget, healthy, ...counts, left: healthy - counts.need, limit: 10, perContext: {} },
	];
	const message = `pod ${pod.pod} waits: budget ${budget} has no disruption left: 240 of 241 healthy, 240 required`;
	return [
		...(waits
			? [[beginMs, { type: "pod.waiting", ...pod, reason: "BudgetExhausted", message, budget, usedBy: [] }] as const]
			: []),
		changed(acceptedMs - 20, 241 + (number % 9)),
		[acceptedMs - 10, { type: "pod.evicting", ...pod, deletes: false, budgets: [budget], attempt: waits ? 2 : 1 }],
		[acceptedMs, { type: "pod.accepted", ...pod, waitedMs: acceptedMs - beginMs }],
		changed(acceptedMs + 10, 240 + (number % 9)),
		[acceptedMs + 3_000, { type: "pod.evicted", ...pod, deletes: false, ms: acceptedMs + 3_000 - beginMs }],
	];
}

function summary(nodes: readonly string[], pods: number): object {
	return {
		type: "summary",
		command: "drain",
		op: "7f3c2a",
		exitCode: 0,
		result: "done",
		evicted: pods,
		failed: 0,
		drained: nodes,
		notDrained: [],
		cordoned: nodes,
		uncordoned: [],
		longestWaitMs: 4_000,
	};
}
