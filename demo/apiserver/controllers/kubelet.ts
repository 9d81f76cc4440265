// Plays the kubelets: pods start, become ready and stop after the given times. Skips pods for which `runsElsewhere` returns true.
import { isIPv6 } from "node:net";
import { type ApiObject, keyOf, listAt, textAt, timestamp } from "../api-object.ts";
import { isReady } from "../eviction.ts";
import type { ControllerHost } from "./controller.ts";
import { isFinished } from "./pod-template.ts";

export interface PodTimes {
	readonly startMs: number;
	readonly readyMs: number;
	readonly stopMs: number;
}

/** As in test/controlplane/kwok.yaml. */
export const quickPods: PodTimes = { startMs: 50, readyMs: 300, stopMs: 100 };

interface Step {
	readonly what: "start" | "ready" | "stop";
	readonly cancel: () => void;
}

export function runKubelets(
	host: ControllerHost,
	{
		times,
		runsElsewhere,
		address,
	}: {
		readonly times: PodTimes;
		readonly runsElsewhere: (pod: ApiObject) => boolean;
		/** The nodes' address. Pods have addresses of the same IP version, which nothing listens on. */
		readonly address: string;
	},
): void {
	const { store } = host.core;
	const steps = new Map<string, Step>();
	let lastAddress = 9;

	host.reconcile({
		resources: ["pods"],
		keysOf: ({ type, object }) => {
			if (type === "DELETED") forget(object.metadata.uid);
			return type === "DELETED" ? [] : [keyOf(object)];
		},
		look(key) {
			const pod = store.find("pods", key);
			if (!pod || runsElsewhere(pod) || !store.find("nodes", `/${textAt(pod, "spec.nodeName")}`)) return;
			const { uid } = pod.metadata;
			const what = nextStep(pod);
			if (steps.get(uid)?.what === what) return;
			forget(uid);
			if (!what) return;
			const cancel = host.after(delayOf(pod, what), () => {
				steps.delete(uid);
				const now = store.find("pods", key);
				if (now?.metadata.uid === uid && nextStep(now) === what) take(now, what);
			});
			steps.set(uid, { what, cancel });
		},
	});

	function forget(uid: string): void {
		steps.get(uid)?.cancel();
		steps.delete(uid);
	}

	function delayOf({ metadata }: ApiObject, what: Step["what"]): number {
		if (what !== "stop") return what === "start" ? times.startMs : times.readyMs;
		return Math.min(times.stopMs, (metadata.deletionGracePeriodSeconds ?? 0) * 1_000);
	}

	function newAddress(): string {
		lastAddress++;
		if (isIPv6(address)) return `fd00:10:244::${lastAddress.toString(16)}`;
		return `10.244.${Math.floor(lastAddress / 250)}.${(lastAddress % 250) + 1}`;
	}

	function take(pod: ApiObject, what: Step["what"]): void {
		const client = host.as(`system:node:${textAt(pod, "spec.nodeName")}`, ["system:nodes", "system:authenticated"]);
		if (what === "stop") {
			client.remove("pods", pod, { gracePeriodSeconds: 0 });
			return;
		}
		const ip = textAt(pod, "status.podIP") || newAddress();
		client.setStatus("pods", pod, runningStatus(pod, { ip, hostIp: address, ready: what === "ready" }));
	}
}

function nextStep(pod: ApiObject): Step["what"] | undefined {
	if (pod.metadata.deletionTimestamp !== undefined) {
		return (pod.metadata.finalizers ?? []).length === 0 ? "stop" : undefined;
	}
	if (isFinished(pod)) return undefined;
	if (textAt(pod, "status.phase") !== "Running") return "start";
	return isReady(pod) ? undefined : "ready";
}

function runningStatus(
	pod: ApiObject,
	{ ip, hostIp, ready }: { readonly ip: string; readonly hostIp: string; readonly ready: boolean },
) {
	const condition = (type: string, value: boolean) => ({
		type,
		status: value ? "True" : "False",
		lastTransitionTime: timestamp(),
	});
	const others = listAt(pod, "status.conditions").filter(
		({ type }) => !["Initialized", "ContainersReady", "Ready"].includes(String(type)),
	);
	const startedAt = textAt(pod, "status.startTime") || timestamp();
	return {
		...pod.status,
		phase: "Running",
		hostIP: hostIp,
		podIP: ip,
		podIPs: [{ ip }],
		startTime: startedAt,
		conditions: [
			...others,
			condition("Initialized", true),
			condition("ContainersReady", ready),
			condition("Ready", ready),
		],
		containerStatuses: listAt(pod, "spec.containers").map(({ name, image }) => ({
			name,
			image,
			imageID: "",
			ready,
			started: true,
			restartCount: 0,
			state: { running: { startedAt } },
		})),
	};
}
