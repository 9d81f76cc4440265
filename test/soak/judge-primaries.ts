// Finds out whether a primary was evicted. An eviction names its pod's version, and the audit log has the labels of every version, so
// clocks and the order of answers do not matter.
import type { AuditEvent } from "../../demo/audit/audit.ts";
import { operator } from "./judge.ts";
import { elected, primary, roleLabel } from "./workload.ts";

interface Version {
	readonly resourceVersion: bigint;
	readonly isPrimary: boolean;
}

/** Returns one line for each of our evictions that took a primary, or that named no version although the pod was not terminating. */
export function evictedPrimaries(events: readonly AuditEvent[]): readonly string[] {
	const versions = new Map<string, Version[]>();
	/** By UID, when the API server first showed the pod as terminating, in microseconds since 1970. */
	const endingSince = new Map<string, number>();
	const lines: string[] = [];
	for (const event of events) {
		if (event.dryRun || event.code < 200 || event.code > 299) continue;
		const { metadata } = event.response ?? {};
		if (event.resource.startsWith("pods") && metadata?.uid !== undefined && metadata.resourceVersion !== undefined) {
			const { labels } = metadata;
			if (labels?.["app"] !== elected.name) continue;
			const version = {
				resourceVersion: BigInt(metadata.resourceVersion),
				isPrimary: labels[roleLabel] === primary,
			};
			versions.set(metadata.uid, [...(versions.get(metadata.uid) ?? []), version]);
			if (metadata.deletionTimestamp !== undefined && !endingSince.has(metadata.uid)) {
				endingSince.set(metadata.uid, event.completedAt);
			}
		}
	}
	const taken = new Set<string>();
	for (const event of events) {
		if (event.resource !== "pods/eviction" || event.code !== 201 || event.user !== operator || event.dryRun) continue;
		const { uid, resourceVersion } = event.request?.deleteOptions?.preconditions ?? {};
		const known = uid === undefined ? undefined : versions.get(uid);
		// The pod belongs to another workload, or an earlier eviction has taken it. The answer is then 201, too.
		if (uid === undefined || !known || taken.has(uid)) continue;
		taken.add(uid);
		const pod = `${event.cluster}/${event.name}`;
		if (resourceVersion === undefined) {
			// A terminating pod never becomes healthy again, so its version does not matter.
			if ((endingSince.get(uid) ?? Number.POSITIVE_INFINITY) < event.receivedAt) continue;
			lines.push(`${pod} was evicted by its uid alone, whatever its role`);
			continue;
		}
		const at = BigInt(resourceVersion);
		const seen = known.filter((version) => version.resourceVersion <= at);
		const [newest] = seen.toSorted((a, b) => (a.resourceVersion > b.resourceVersion ? -1 : 1));
		if (newest?.isPrimary) lines.push(`${pod} was evicted as the primary, in version ${resourceVersion}`);
	}
	return lines;
}
