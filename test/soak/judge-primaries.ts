// Whether a primary was evicted, exactly: an eviction names the version of the pod that it takes, and the audit log has the labels
// of every version. Clocks and the order of answers do not matter.
import type { AuditEvent } from "../../demo/audit/audit.ts";
import { operator } from "./judge.ts";
import { elected, primary, roleLabel } from "./workload.ts";

interface Version {
	readonly resourceVersion: bigint;
	readonly isPrimary: boolean;
}

/** One line for each of our evictions that took a primary, or that named no version although labels decide who may go. */
export function evictedPrimaries(events: readonly AuditEvent[]): readonly string[] {
	const versions = new Map<string, Version[]>();
	/** By uid: since when its API server has said that it is terminating. */
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
		// Of another workload, or one that an earlier eviction has taken already: that answer is 201 as well.
		if (uid === undefined || !known || taken.has(uid)) continue;
		taken.add(uid);
		const pod = `${event.cluster}/${event.name}`;
		if (resourceVersion === undefined) {
			// Nothing can make a terminating pod healthy again, so its version does not matter.
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
