import { describe, expect, test } from "vitest";
import type { Silent } from "../../../disruption/errors.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { evicting, pod, print, type Timed, waiting } from "./print-plain.ts";

describe("one context: kubectl's own lines", () => {
	test("filters that refuse", () => {
		const errors = [
			"cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): kube-system/ds-x",
			"cannot delete Pods that declare no controller (use --force to override): default/bar",
		];
		expect(
			print([
				[0, { type: "node.cordoned", context: "c1", node: "n1", already: false, ours: true, dryRun: "none" }],
				[0, { type: "node.failed", context: "c1", node: "n1", reason: "PodsNotAllowed", why: "", errors, pending: [] }],
				[0, { type: "nodes.pending", nodes: [{ context: "c1", node: "n1" }] }],
				[0, { type: "run.failed", errors }],
			]),
		).toEqual([
			"out: node/n1 cordoned",
			'err: error: unable to drain node "n1" due to error: [cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): kube-system/ds-x, cannot delete Pods that declare no controller (use --force to override): default/bar], continuing command...',
			"err: There are pending nodes to be drained:",
			"err:  n1",
			"err: cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): kube-system/ds-x",
			"err: cannot delete Pods that declare no controller (use --force to override): default/bar",
		]);
	});

	test("one 429, then done", () => {
		const message =
			'error when evicting pods/"web-1" -n "default" (will retry after 5s): Cannot evict pod as it would violate the pod\'s disruption budget.';
		expect(
			print([
				[0, { type: "node.cordoned", context: "c1", node: "n1", already: true, ours: false, dryRun: "none" }],
				[
					0,
					{
						type: "node.warning",
						context: "c1",
						node: "n1",
						message: "ignoring DaemonSet-managed Pods: kube-system/ds-x",
					},
				],
				[0, evicting],
				[0, { type: "pod.retrying", ...pod, reason: "DisruptionBudget", message, retryAfterMs: 5_000 }],
				[5_000, { ...evicting, attempt: 2 }],
				[5_100, { type: "pod.accepted", ...pod, waitedMs: 0, graceSeconds: 30 }],
				[6_000, { type: "pod.evicted", ...pod, deletes: false, elapsedMs: 6_000 }],
				[6_000, { type: "node.drained", context: "c1", node: "n1", dryRun: "none" }],
			]),
		).toEqual([
			"out: node/n1 already cordoned",
			"err: Warning: ignoring DaemonSet-managed Pods: kube-system/ds-x",
			"out: evicting pod default/web-1",
			`err: ${message}`,
			"out: evicting pod default/web-1",
			"out: pod/web-1 evicted",
			"out: node/n1 drained",
		]);
	});

	test("a timeout", () => {
		const message = 'error when evicting pods/"web-1" -n "default": global timeout reached: 12s';
		expect(
			print([
				[0, { type: "pod.failed", ...pod, reason: "TimedOut", waitedMs: 0, message, deletes: false, accepted: false }],
				[
					0,
					{
						type: "node.failed",
						context: "c1",
						node: "n1",
						reason: "TimedOut",
						why: "",
						errors: [message],
						pending: ["web-1"],
					},
				],
			]),
		).toEqual([
			`err: There are pending pods in node "n1" when an error occurred: ${message}`,
			"err: pod/web-1",
			`err: error: unable to drain node "n1" due to error: ${message}, continuing command...`,
		]);
	});

	test("dry runs say so", () => {
		expect(
			print([
				[0, { type: "node.cordoned", context: "c1", node: "n1", already: false, ours: true, dryRun: "client" }],
				[0, { ...evicting, dryRun: "client" }],
				[0, { type: "node.drained", context: "c1", node: "n1", dryRun: "server" }],
			]),
		).toEqual([
			"out: node/n1 cordoned (dry run)",
			"out: evicting pod default/web-1 (dry run)",
			"out: node/n1 drained (server dry run)",
		]);
	});

	test("deleting says nothing before it is done", () => {
		expect(
			print([
				[0, { ...evicting, deletes: true }],
				[0, { type: "pod.evicted", ...pod, deletes: true, elapsedMs: 1 }],
			]),
		).toEqual(["out: pod/web-1 deleted"]);
	});

	test("an accepted eviction whose end was not seen, unless it was only late", () => {
		const failed = { type: "pod.failed", ...pod, waitedMs: 0, message: "no", deletes: false, accepted: true } as const;
		expect(print([[0, { ...failed, reason: "Forbidden" }]])).toEqual(["out: pod/web-1 eviction failed"]);
		expect(print([[0, { ...failed, reason: "TimedOut" }]])).toEqual([]);
	});

	test("a run that did all it was asked ends without a summary", () => {
		expect(
			print([
				[
					0,
					{
						type: "summary",
						command: "drain",
						exitCode: 0,
						interrupted: false,
						evicted: 3,
						failed: 0,
						drained: [{ context: "c1", node: "n1" }],
						notDrained: [],
						cordoned: [],
						uncordoned: [],
						notRecovered: [],
						longestWaitMs: 0,
					},
				],
			]),
		).toEqual([]);
	});
});

describe("a dry run on the server", () => {
	const dryRun = "server";

	test("is called one by its summary", () => {
		const summary = {
			type: "summary",
			command: "drain",
			exitCode: 0,
			interrupted: false,
			evicted: 3,
			failed: 0,
			drained: [{ context: "eu", node: "n1" }],
			notDrained: [],
			cordoned: [],
			uncordoned: [],
			notRecovered: [],
			longestWaitMs: 0,
			dryRun,
		} as const;
		expect(print([[0, summary]], ["eu", "us"])).toEqual([
			"err: Done (server dry run, nothing was changed): 1 node drained, 0 not, 3 pods evicted, longest wait 0s, exit code 0",
		]);
	});

	test("says for what pods would wait, the first few by name", () => {
		const usedBy = [{ cluster: "us", namespace: "default", pod: "web-9", why: "Reserved", holder: "this run" }];
		const events = Array.from({ length: 7 }, (_, index): Timed => {
			return [0, { ...waiting, usedBy, dryRun, pod: `web-${index}` }];
		});
		const wait = "would wait: budget default/web has no disruption left: 2 of 3 healthy, 2 required";
		expect(print(events)).toEqual([
			`err: pod default/web-0 ${wait}; used by default/web-9 in us: being evicted by this run`,
			...["web-1", "web-2", "web-3", "web-4"].map(
				(name) => `err: pod default/${name} ${wait}; used by default/web-9 in us`,
			),
			"err: more pods would wait for budget default/web",
		]);
	});
});

describe("clusters without an answer", () => {
	const unreachable = (elapsedMs: number, silent?: Silent): RunEvent => ({
		type: "cluster.unreachable",
		cluster: "us",
		message: "connection refused",
		...(silent && { silent }),
		elapsedMs,
	});

	test.each([
		["apiServer", "kubectl get --raw '/readyz?verbose' --context prod-us"],
		["network", "kubectl get services -n xpdb-system -o wide --context prod-us"],
		["agent", "kubectl get pods -n xpdb-system -l app.kubernetes.io/name=xpdb-agent -o wide --context prod-us"],
		["unknown", "kubectl get pods -n xpdb-system -l app.kubernetes.io/name=xpdb-agent -o wide --context prod-us"],
	] as const)("are told with what shows more of the %s", (silent, command) => {
		const members = [{ cluster: "us", context: "prod-us", version: "0.1.0" }];
		const started: RunEvent = { type: "run.started", members, nodes: [], pods: [], dryRun: "none" };
		const [line] = print([
			[0, started],
			[2_000, unreachable(2_000, silent)],
		]);
		expect(line).toBe(
			`err: cluster us gives no answer for 2s, nothing is evicted until it does: connection refused; see ${command}`,
		);
	});

	test("are told after two seconds, and when they are back", () => {
		expect(
			print([
				[0, unreachable(0)],
				[1_000, unreachable(1_000)],
				[2_000, unreachable(2_000)],
				[3_000, unreachable(3_000)],
				[9_000, { type: "cluster.recovered", cluster: "us", elapsedMs: 9_000 }],
			]),
		).toEqual([
			"err: cluster us gives no answer for 2s, nothing is evicted until it does: connection refused",
			"err: cluster us answers again after 9s",
		]);
	});

	test("that are back at once are not worth a word", () => {
		expect(
			print([
				[0, unreachable(0)],
				[500, { type: "cluster.recovered", cluster: "us", elapsedMs: 500 }],
			]),
		).toEqual([]);
	});
});

test("pods under several PodDisruptionBudgets are told with the command that shows these, once a namespace", () => {
	const message =
		'error when evicting pods/"web-1" -n "default": This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
	const failed: RunEvent = {
		type: "pod.failed",
		...pod,
		reason: "MultipleBudgets",
		message,
		deletes: false,
		accepted: false,
		waitedMs: 0,
	};
	const { node: _, ...named } = failed;
	const see = "see kubectl get poddisruptionbudgets -n default --context c1";
	expect(
		print([
			[0, failed],
			[0, { ...failed, pod: "web-2" }],
			[0, { ...named, namespace: "shop" }],
			[0, { ...failed, pod: "web-3", reason: "Refused" }],
		]),
	).toEqual([
		`err: more than one PodDisruptionBudget selects pod default/web-1; ${see}`,
		`err: ${message}`,
		`err: more than one PodDisruptionBudget selects pod shop/web-1; ${see.replace("default", "shop")}`,
	]);
});

test("a lease that is held for long is told with its holder", () => {
	const held = {
		type: "lease.waiting",
		budget: "default/web",
		cluster: "eu",
		holder: "bob@host",
		position: 2,
	} as const;
	expect(
		print([
			[0, { ...held, heldForMs: 20 }],
			[4_000, { ...held, heldForMs: 4_000 }],
			[5_000, { ...held, heldForMs: 5_000 }],
		]),
	).toEqual(["err: budget default/web: lease held by bob@host in eu for 4s, this run is number 2 in line"]);
});

describe("several contexts", () => {
	const contexts = ["eu", "us-west"];

	test("every line begins with its context", () => {
		expect(
			print(
				[
					[0, { type: "node.cordoned", context: "eu", node: "n1", already: false, ours: true, dryRun: "none" }],
					[0, { ...evicting, context: "us-west" }],
					[0, { ...waiting, context: "eu" }],
					[0, { type: "nodes.pending", nodes: [{ context: "eu", node: "n1" }] }],
					[0, { type: "diagnostic", level: "warning", context: "eu", message: "no agent" }],
				],
				contexts,
			),
		).toEqual([
			"out: eu       node/n1 cordoned",
			"out: us-west  evicting pod default/web-1",
			"err: eu       pod default/web-1 waits: budget default/web has no disruption left: 2 of 3 healthy, 2 required",
			"err: There are pending nodes to be drained:",
			"err:  eu/n1",
			"err: eu       Warning: no agent",
		]);
	});

	test("the run ends with one block", () => {
		expect(
			print(
				[
					[0, { type: "interrupted", accepted: 2, graceSeconds: 79 }],
					[
						0,
						{
							type: "summary",
							command: "drain",
							op: "7f3c2a",
							exitCode: 130,
							interrupted: true,
							evicted: 4,
							failed: 0,
							drained: [{ context: "eu", node: "n1" }],
							notDrained: [{ context: "us-west", node: "n2", reason: "Interrupted", message: "stopped" }],
							cordoned: [{ context: "us-west", node: "n2" }],
							uncordoned: [],
							notRecovered: [],
							longestWaitMs: 65_000,
							terminating: [{ context: "us-west", namespace: "shop", pod: "db-1", node: "n2" }],
							resume: "kubectl xpdb drain eu/n1 us-west/n2",
							undo: "kubectl xpdb uncordon us-west/n2",
						},
					],
				],
				contexts,
			),
		).toEqual([
			"err: Stopping: no new evictions. 2 pods already accepted will finish (up to 79s). Press Ctrl-C again to exit now.",
			"err: Stopped: 1 node drained, 1 not, 4 pods evicted, longest wait 1m05s, exit code 130, operation 7f3c2a",
			"err: Not drained: us-west/n2: stopped",
			"err: Still cordoned: us-west/n2",
			"err: Still terminating: us-west/shop/db-1",
			"err: Continue:     kubectl xpdb drain eu/n1 us-west/n2",
			"err: Undo cordons: kubectl xpdb uncordon us-west/n2",
		]);
	});
});
