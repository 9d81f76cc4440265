// The texts of ConfigMap `xpdb-fleet`: key `members`, and, optional, keys `forgotten` and `namespaces`, each a list in YAML or JSON, and key
// `leaseNamespace`. Other keys mean nothing here.
import { agentNamespacesKey } from "../../disruption/agent-namespaces.ts";
import { InvalidFleetError, readDeclaredFleet } from "../../disruption/budget/declared-fleet.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";

type Data = Readonly<Record<string, unknown>>;

/** Reads the ConfigMap's data. Throws InvalidFleetError. */
export async function parseFleet(data: Data): Promise<DeclaredFleet> {
	return readDeclaredFleet({
		members: await parseValue(data, "members"),
		forgotten: await parseValue(data, "forgotten"),
		namespaces: await parseValue(data, agentNamespacesKey),
		leaseNamespace: Object.hasOwn(data, "leaseNamespace") ? (data["leaseNamespace"] ?? null) : undefined,
	});
}

/** Undefined where the key is not there. JSON first: the YAML parser is loaded only where needed, for the agent's memory. */
async function parseValue(data: Data, key: string): Promise<unknown> {
	if (!Object.hasOwn(data, key)) return undefined;
	const text = data[key];
	if (typeof text !== "string") throw new InvalidFleetError(`${key} is not a text`);
	const value = await parseText(text, key);
	// Of a text with nothing in it the parser makes null, and a key that is there is never as good as none.
	return value ?? null;
}

async function parseText(text: string, key: string): Promise<unknown> {
	try {
		const list: unknown = JSON.parse(text);
		return list;
	} catch {
		const { parse } = await import("yaml");
		try {
			const list: unknown = parse(text, { logLevel: "error" });
			return list;
		} catch (error) {
			const why = parserProblem(error);
			throw new InvalidFleetError(`${key} is neither YAML nor JSON: ${why}`, { cause: error });
		}
	}
}
