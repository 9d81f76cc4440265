// Parses ConfigMap `xpdb-fleet`. The key `members` and the optional keys `forgotten` and `namespaces` are lists in YAML or JSON. The
// optional key `leaseNamespace` is plain text. Other keys are ignored.
import { agentNamespacesKey } from "../../disruption/agent-namespaces.ts";
import { InvalidFleetError, readDeclaredFleet } from "../../disruption/budget/declared-fleet.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";

type Data = Readonly<Record<string, unknown>>;

/** Throws InvalidFleetError. */
export async function parseFleet(data: Data): Promise<DeclaredFleet> {
	return readDeclaredFleet({
		members: await parseValue(data, "members"),
		forgotten: await parseValue(data, "forgotten"),
		namespaces: await parseValue(data, agentNamespacesKey),
		leaseNamespace: Object.hasOwn(data, "leaseNamespace") ? (data["leaseNamespace"] ?? null) : undefined,
	});
}

/** Returns the parsed value; undefined if the key is missing. Tries JSON first, because loading the YAML parser costs memory. */
async function parseValue(data: Data, key: string): Promise<unknown> {
	if (!Object.hasOwn(data, key)) return undefined;
	const text = data[key];
	if (typeof text !== "string") throw new InvalidFleetError(`${key} is not a text`);
	const value = await parseText(text, key);
	// The parser returns null for an empty text. An existing key must not count as missing.
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
