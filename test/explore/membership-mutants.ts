// Mutants of the rule about members. Each must be caught by one of the model's scenarios that it names.
import type { Mutant } from "./mutant.ts";

const file = "agent/leases/known-members.ts";

export const membershipMutants: readonly Mutant[] = [
	{
		name: "fleet-obeyed-unasked",
		without: "refusing while somebody is missing",
		scenarios: ["shortened"],
		edits: [{ file, symbol: "KnownMembers.getFleet", find: "if ($first) throw $refusal;", replace: "" }],
	},
	{
		name: "list-not-read-again",
		without: "reading the list once more after it was written down",
		scenarios: ["longer for a moment"],
		edits: [
			{
				file,
				symbol: "KnownMembers.judge",
				find: "$isObeyed ? $fleet : await $api.getFleet()",
				replace: "$fleet",
			},
		],
	},
	{
		name: "list-obeyed-before-it-is-written",
		without: "waiting until the list is in the Lease",
		scenarios: ["shortened", "longer for a moment"],
		edits: [
			{
				file,
				symbol: "KnownMembers.judge",
				find: "await this.#keepOnce($fleet, $what)",
				replace: "void this.#keepOnce($fleet, $what).catch(() => undefined)",
			},
		],
	},
	{
		name: "list-compared-by-content",
		without: "reading the Lease anew for a later version of a list that was obeyed before",
		scenarios: ["longer in between"],
		edits: [{ file, symbol: "contentOf", find: "[$version, ...$$members]", replace: "[...$$members]" }],
	},
	{
		name: "lease-not-read-before-it-is-written",
		without: "what the Lease has of other agents",
		scenarios: ["moved", "shortened"],
		edits: [
			{
				file,
				symbol: "KnownMembers.#keep",
				find: "$object ? this.#read($object) : []",
				replace: "[]",
			},
		],
	},
	{
		name: "lost-race-counts-as-written",
		without: "starting over where another agent wrote the Lease meanwhile",
		scenarios: ["longer for a moment", "greeted", "moved"],
		edits: [
			{
				file,
				symbol: "KnownMembers.#keep",
				find: "if ($error instanceof ConflictError) continue;",
				replace: "if ($error instanceof ConflictError) return;",
			},
		],
	},
	{
		name: "watch-shows-nobody",
		without: "learning from the watch whom another agent was greeted by",
		scenarios: ["greeted"],
		edits: [{ file, symbol: "KnownMembers.#look", find: "if (!$object) return;", replace: "return;" }],
	},
	{
		name: "forgotten-ignored",
		without: "what is forgotten by name",
		scenarios: ["forgotten"],
		edits: [
			{
				file,
				symbol: "KnownMembers.#missing",
				find: "[...$members, ...$forgotten]",
				replace: "[...$members]",
			},
		],
	},
	{
		name: "greeting-kept-by-nobody",
		without: "writing down who greeted",
		scenarios: ["greeted", "greeted and shortened"],
		edits: [{ file, symbol: "KnownMembers.learn", find: "await this.#keep($members, false);", replace: "" }],
	},
];
