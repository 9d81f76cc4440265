// The annotations that outlive the process that wrote them, each with everything that it may contain.
import {
	knownMembersAnnotation,
	knownMembersLease,
	knownMembersText,
} from "../../agent/cluster-api/known-members-lease.ts";
import { type BudgetLease, annotationsOf } from "../../disruption/lease/lease.ts";
import { formatSuspension, suspensionAnnotation } from "../../disruption/budget/suspension.ts";
import { formatOperation, operationAnnotation } from "../../plugin/nodes/operation.ts";
import { newController, newLease, newReservation } from "../support/build-lease.ts";
import type { KeptAnnotations } from "./kept.ts";

function leaseOf(what: string, lease: BudgetLease): KeptAnnotations {
	const { name, holder, transitions } = lease;
	return { what, name, holder, transitions, annotations: annotationsOf(lease) };
}

const reservations = [newReservation("db-0", { cancelling: true }), newReservation("db-1", { holder: "drain-8a" })];
const controllers = [newController("db"), newController("web", { kind: "ReplicaSet" })];
const said = { observed: "123456789012345678901234567890", reservations, controllers };

export const writtenAnnotations: readonly KeptAnnotations[] = [
	leaseOf("a Lease that is new", newLease()),
	leaseOf(
		"a Lease that is held",
		newLease({
			holder: "drain-7f",
			transitions: 4,
			annotations: { "example.com/other": "x" },
			state: { ...said, phase: "held", nonce: "nonce-1", renewals: 2 },
		}),
	),
	leaseOf(
		"a Lease after a commit",
		newLease({ transitions: 4, state: { ...said, phase: "committed", nonce: "nonce-1" } }),
	),
	{
		what: "the Lease of known members",
		name: knownMembersLease,
		annotations: {
			[knownMembersAnnotation]: knownMembersText([
				{ id: "id-1", name: "eu-1", address: "10.0.0.1:8444", since: 1_795_000_000 },
				{ id: "id-2", name: "us-1", since: 1_795_000_001 },
			]),
		},
	},
	{
		what: "a budget that is suspended",
		annotations: {
			[suspensionAnnotation]: formatSuspension({
				by: "alice",
				since: "2026-01-02T03:04:05.000Z",
				reason: "the database is being moved",
			}),
		},
	},
	{
		what: "a node that is being drained",
		annotations: {
			[operationAnnotation]: formatOperation({
				id: "0a1b2c",
				holder: "00112233445566aa",
				state: "draining",
				by: "alice",
				since: "2026-01-02T03:04:05.000Z",
				nodes: 3,
				fleet: "5f",
				flags: { "ignore-daemonsets": true, timeout: 60_000, "pod-selector": "app=db" },
				typedAgain: ["force"],
				cordonedBefore: true,
			}),
		},
	},
];
