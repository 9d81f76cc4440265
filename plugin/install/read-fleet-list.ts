// Parses the content of ConfigMap `xpdb-fleet`.
import { parse } from "yaml";
import { agentNamespacesKey } from "../../disruption/agent-namespaces.ts";
import { InvalidFleetError, readDeclaredFleet } from "../../disruption/budget/declared-fleet.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";

type Data = Readonly<Record<string, unknown>>;

/** Throws InvalidFleetError for a list that agents would refuse. */
export function readFleetList(data: Data): DeclaredFleet {
	const list = (key: string): unknown => {
		if (!Object.hasOwn(data, key)) return undefined;
		const text = data[key];
		if (typeof text !== "string") throw new InvalidFleetError(`${key} is not a text`);
		try {
			const value: unknown = parse(text, { logLevel: "error" });
			return value ?? null;
		} catch (error) {
			throw new InvalidFleetError(`${key} is not YAML: ${parserProblem(error)}`, { cause: error });
		}
	};
	return readDeclaredFleet({
		members: list("members"),
		forgotten: list("forgotten"),
		namespaces: list(agentNamespacesKey),
		leaseNamespace: data["leaseNamespace"],
	});
}
