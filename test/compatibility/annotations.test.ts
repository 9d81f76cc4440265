import { describe, expect, test } from "vitest";
import {
	knownMembersAnnotation,
	knownMembersText,
	parseKnownMembers,
} from "../../agent/cluster-api/known-members-lease.ts";
import { annotationsOf, parseLease } from "../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../disruption/lease/lease-text.ts";
import { formatSuspension, parseSuspension, suspensionAnnotation } from "../../disruption/budget/suspension.ts";
import { formatOperation, operationAnnotation, parseOperation } from "../../plugin/nodes/operation.ts";
import { type KeptAnnotations, keptAnnotations, keptVersions } from "./kept.ts";

/** Parses these annotations and formats them again. */
function again({ name = "", holder = "", transitions = 0, annotations }: KeptAnnotations): object {
	const [known, suspended, operation] = [knownMembersAnnotation, suspensionAnnotation, operationAnnotation].map(
		(key) => annotations[key],
	);
	if (annotations[stateAnnotation] !== undefined) {
		const spec = { ...(holder !== "" && { holderIdentity: holder }), leaseTransitions: transitions };
		return annotationsOf(parseLease({ name, uid: "u", resourceVersion: "7", labels: {}, annotations, spec }));
	}
	if (known !== undefined)
		return { [knownMembersAnnotation]: knownMembersText(parseKnownMembers({ annotations }, "c1")) };
	if (suspended !== undefined) {
		const suspension = parseSuspension(suspended);
		if (!suspension) throw new Error("It is not understood");
		return { [suspensionAnnotation]: formatSuspension(suspension) };
	}
	const reading = parseOperation(operation ?? "");
	if (reading.kind !== "operation") throw new Error(`It is ${reading.kind}`);
	return { [operationAnnotation]: formatOperation(reading.operation) };
}

describe.each(keptVersions.map((version) => ({ version })))(
	"what $version left on Kubernetes' objects",
	({ version }) => {
		const kept = keptAnnotations(version);

		test("is kept of Leases in each of their phases, and of all else that outlives a process", () => {
			const keys = new Set(kept.flatMap(({ annotations }) => Object.keys(annotations)));
			for (const key of [stateAnnotation, knownMembersAnnotation, suspensionAnnotation, operationAnnotation]) {
				expect(keys).toContain(key);
			}
			const phases = kept.flatMap(
				({ annotations }) => /"phase":"(\w+)"/.exec(annotations[stateAnnotation] ?? "")?.[1] ?? [],
			);
			expect(phases.toSorted()).toEqual(["committed", "held", "released"]);
		});

		// Byte for byte, because older agents read what today's agents write, and refuse additional fields.
		for (const each of kept) {
			test(`is understood today, and written as it was then: ${each.what}`, () => {
				expect(again(each)).toEqual(each.annotations);
			});
		}
	},
);
