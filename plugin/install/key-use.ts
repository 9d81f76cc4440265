// Records each use of the CA's key as an Event in the agents' namespace, because the key gives control of the fleet. The Event is written
// before the result is used. The exception is an installation that creates the key or reads it from a file: its namespace may not exist
// before.
import { personEvent, writePersonEvent } from "../fleet/person-event.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { agentSecret, authoritySecret } from "./certificate-objects.ts";

export interface KeyUse {
	readonly action: "Sign" | "Create" | "Move";
	/** The context whose Secret keeps the key; undefined if the key is in a file of the user. */
	readonly keeper: string | undefined;
	/** The context of the member that gets the certificate or the key. */
	readonly member: string;
	readonly clusterId: string;
}

const reasons = { Sign: "CertificateSigned", Create: "CaCreated", Move: "CaKeyMoved" } as const;

/**
 * Returns why the Event could not be written; undefined on success. `context`: the keeper's, or the member's if no Secret keeps the key.
 */
export function tellKeyUse(
	context: KubeContext,
	use: KeyUse,
	{ by, at }: { readonly by: string; readonly at: number },
): Promise<string | undefined> {
	const { namespace } = context.agents;
	const name = use.keeper === undefined ? agentSecret : authoritySecret;
	const event = personEvent({
		regarding: { apiVersion: "v1", kind: "Secret", namespace, name, uid: "" },
		at,
		by,
		action: use.action,
		reason: reasons[use.action],
		type: "Normal",
		note: noteOf(use, by),
	});
	return writePersonEvent(context, namespace, event, { rehearse: false });
}

function noteOf({ action, keeper, member, clusterId }: KeyUse, by: string): string {
	const key = keeper === undefined ? "the CA's key in a file" : "the key in this Secret";
	switch (action) {
		case "Sign":
			return `${by} signed a certificate for the agents of ${member} (id ${clusterId}) with ${key}`;
		case "Create":
			return `${by} made a new CA, whose key this Secret keeps`;
		case "Move":
			return `${by} moved the CA's key to ${member} (id ${clusterId})`;
	}
}

/** Returns a line for each Event that could not be written. */
export async function tellKeyUses(
	contexts: readonly KubeContext[],
	uses: readonly KeyUse[],
	{ by, at }: { readonly by: string; readonly at: number },
): Promise<readonly string[]> {
	const problems = await Promise.all(
		uses.map(async (use, index) => {
			const context = contexts.find(({ name }) => name === (use.keeper ?? use.member));
			if (!context) throw new TypeError(`no context "${use.keeper ?? use.member}"`);
			// The Events' names contain the time, so each Event needs its own time.
			const untold = await tellKeyUse(context, use, { by, at: at + index });
			if (untold === undefined) return [];
			return [`${context.name}: cannot write the Event of this use of the CA's key: ${untold}`];
		}),
	);
	return problems.flat();
}

/** Returns the uses of a key that a cluster already kept. Its namespace exists, so the Events can be written first. */
export function ofKeptKey(uses: readonly KeyUse[]): readonly KeyUse[] {
	const isNew = uses.some(({ action }) => action === "Create");
	return isNew ? [] : uses.filter(({ keeper }) => keeper !== undefined);
}
