import { PodStore } from "../../../agent/views/pod-view.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { newPod } from "../../support/build-pod.ts";
import { createManualClock } from "../../support/manual-clock.ts";

export function pod(name: string, resourceVersion: string, more: Partial<PodRecord> = {}): PodRecord {
	return newPod(name, { namespace: "db", resourceVersion, labels: {}, ...more });
}

export const added = (object: PodRecord) =>
	({ type: "ADDED", object, resourceVersion: object.resourceVersion }) as const;
export const modified = (object: PodRecord) =>
	({ type: "MODIFIED", object, resourceVersion: object.resourceVersion }) as const;
export const deleted = (object: PodRecord) =>
	({ type: "DELETED", object, resourceVersion: object.resourceVersion }) as const;

export function setUp(options: { readonly deletionsKept?: number } = {}) {
	const clock = createManualClock();
	return { clock, store: new PodStore({ clock, ...options }) };
}

export const names = (store: PodStore, namespace = "db") =>
	[...store.pods(namespace)].map(({ name }) => name).toSorted();
export const settle = () => new Promise((resolve) => setImmediate(resolve));

export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
	let settled = false;
	const done = () => void (settled = true);
	promise.then(done, done);
	await settle();
	return settled;
}
