// Finds reservations and held Leases that remain in the clusters after faults. Those that end within a minute are allowed.
import { setTimeout as delay } from "node:timers/promises";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import { getJson, leasesPath } from "../get-json.ts";

interface LeaseList {
	readonly items: readonly {
		readonly metadata: {
			readonly name: string;
			readonly resourceVersion: string;
			readonly annotations?: Readonly<Record<string, string>>;
		};
		readonly spec: { readonly holderIdentity?: string | null; readonly leaseDurationSeconds?: number };
	}[];
}

/** Covers a reservation's deadline, the second agent's sweep, and the write after it. */
const endsWithinMs = 60_000;

/**
 * Waits until no cluster has a reservation or a held Lease, and resolves with what remains after the limit. A Lease that has not changed
 * for its duration is not held.
 */
export async function findLeftBehind(): Promise<readonly string[]> {
	const unchangedSince = new Map<string, { readonly version: string; readonly at: number }>();
	let left: readonly string[] = [];
	const look = async (): Promise<boolean> => {
		const lists = await Promise.all(
			sharedFleet().contexts.map(async (context) => {
				const { items } = await getJson<LeaseList>(context, leasesPath());
				return items.flatMap(({ metadata, spec }) => {
					const key = `${context}/${metadata.name}`;
					const state = metadata.annotations?.["xpdb.form3.tech/state"];
					if (state === undefined) return [];
					const seen = unchangedSince.get(key);
					if (seen?.version !== metadata.resourceVersion) {
						unchangedSince.set(key, { version: metadata.resourceVersion, at: performance.now() });
					}
					const silentMs = performance.now() - (unchangedSince.get(key)?.at ?? 0);
					const holder = spec.holderIdentity ?? "";
					const isHeld = holder !== "" && silentMs < (spec.leaseDurationSeconds ?? 0) * 1000;
					const { reservations } = JSON.parse(state) as { reservations?: readonly unknown[] };
					if (reservations === undefined) return [`${key} has a state of another schema: ${state}`];
					return [
						...(isHeld ? [`${key} is held by ${holder}`] : []),
						...(reservations.length > 0 ? [`${key} has ${reservations.length} reservations`] : []),
					];
				});
			}),
		);
		left = lists.flat();
		return left.length === 0;
	};
	const until = performance.now() + endsWithinMs;
	while (!(await look()) && performance.now() < until) await delay(250);
	return left;
}
