// A target for the Lease of known members and for greetings, which decide which members are missing.
import fc from "fast-check";
import {
	knownMembersAnnotation,
	knownMembersLease,
	knownMembersText,
	parseKnownMembers,
} from "../../../agent/cluster-api/known-members-lease.ts";
import { AgentProtocolError, GarbledLeaseError } from "../../../disruption/errors.ts";
import { maxGreetedMembers, readGreeting } from "../../../proto/greet.ts";
import { attempt } from "../clear-error.ts";
import { demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { applyEdits, jsonEdits, jsonOf } from "../json-edits.ts";
import { type Json, oddText } from "../odd-values.ts";
import { editedText } from "../text-edits.ts";

const seed: Json = {
	version: 1,
	members: [
		{ id: "0f0d2f60-0000-4000-8000-000000000001", name: "eu-1", address: "10.0.0.1:8444", since: 1_700_000_000 },
		{ id: "two", name: "us-1", since: 1 },
	],
};

const texts = fc.oneof(
	jsonEdits.map((edits) => jsonOf(applyEdits(structuredClone(seed), edits))),
	editedText([JSON.stringify(seed)], ['"id"', '"version"', "[]", "{}"]),
);

export const knownMembersTarget: FuzzTarget = {
	name: "known-members",
	reads: "the Lease of known members, and greetings, by the agent",
	share: 0.3,
	open: () => {
		const ids = fc.array(fc.oneof(fc.constantFrom("id-1", "id-2"), oddText), { maxLength: 4 });
		const greeting = fc.record({
			clusterId: oddText,
			fromId: oddText,
			fromName: oddText,
			memberIds: fc.oneof(
				{ weight: 9, arbitrary: ids },
				{ weight: 1, arbitrary: fc.constant(Array.from({ length: maxGreetedMembers + 1 }, () => "id-1")) },
			),
		});
		return syncTarget(fc.record({ text: texts, greeting }), ({ text, greeting: message }) => {
			const object = { annotations: { [knownMembersAnnotation]: text } };
			const members = attempt(() => parseKnownMembers(object, "eu-1"), [GarbledLeaseError], knownMembersLease, "eu-1");
			if (members) {
				demand(new Set(members.map(({ id }) => id)).size === members.length, "It took a member twice");
				demand(
					members.every(({ id, name }) => id !== "" && name !== "" && id.length <= 253 && name.length <= 253),
					"It took half a member",
				);
				const again = parseKnownMembers(
					{ annotations: { [knownMembersAnnotation]: knownMembersText(members) } },
					"eu-1",
				);
				demand(knownMembersText(again) === knownMembersText(members), "It does not read what it writes");
			}
			const read = attempt(() => readGreeting(message), [AgentProtocolError]);
			if (!read) return;
			demand(read.id !== "" && read.id.length <= 253, "It is greeted by nobody");
			demand(read.memberIds.length <= maxGreetedMembers, "It took a fleet without end");
		});
	},
};
