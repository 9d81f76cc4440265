// The CA's key is worth the fleet: each use of it is told by an Event in the agents' namespace, before what it made is put to use.
import { personEvent, writePersonEvent } from "../fleet/person-event.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { agentSecret, authoritySecret } from "./certificate-objects.ts";

export interface KeyUse {
	readonly action: "Sign" | "Create" | "Move";
	/** The context whose Secret keeps the key; undefined: it is in a file of the person's. */
	readonly keeper: string | undefined;
	/** The context of the member that it is used for. */
	readonly member: string;
	/** Of that member. */
	readonly clusterId: string;
}

const reasons = { Sign: "CertificateSigned", Create: "CaCreated", Move: "CaKeyMoved" } as const;

/** Why the Event could not be written; undefined where it was. `context`: of the keeper, or of the member where no Secret keeps the key. */
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

/** Each use by one Event. A line for each that could not be written. */
export async function tellKeyUses(
	contexts: readonly KubeContext[],
	uses: readonly KeyUse[],
	{ by, at }: { readonly by: string; readonly at: number },
): Promise<readonly string[]> {
	const problems = await Promise.all(
		uses.map(async (use, index) => {
			const context = contexts.find(({ name }) => name === (use.keeper ?? use.member));
			if (!context) throw new TypeError(`no context "${use.keeper ?? use.member}"`);
			// Their names have the time in them.
			const untold = await tellKeyUse(context, use, { by, at: at + index });
			if (untold === undefined) return [];
			return [`${context.name}: cannot write the Event of this use of the CA's key: ${untold}`];
		}),
	);
	return problems.flat();
}

/** Whether the CA's key was kept in a cluster before this installation, whose namespace is there to write to. */
export function ofKeptKey(uses: readonly KeyUse[]): readonly KeyUse[] {
	const isNew = uses.some(({ action }) => action === "Create");
	return isNew ? [] : uses.filter(({ keeper }) => keeper !== undefined);
}
