// Mutants of what a plugin accepts from the agents when it discovers the fleet (see meeting-scenarios.ts).
import type { Mutant } from "./mutant.ts";

const fleet = "plugin/fleet/fleet.ts";
const lists = "plugin/fleet/list-budgets.ts";

export const meetingMutants: readonly Mutant[] = [
	{
		name: "told-lists-as-old-as-their-answer",
		without: "going by when the agents were asked where the age of budgets that they told of is looked at",
		scenarios: ["met-before-a-budget"],
		edits: [
			{
				file: "plugin/fleet/meeting.ts",
				symbol: "askAgent",
				find: "{ askedAt: $asked }",
				replace: "{ askedAt: runClock() }",
			},
		],
	},
	{
		name: "ahead-as-old-as-the-last-list",
		without: "going by the oldest of the answers that a list of all members is made of",
		scenarios: ["met-before-a-budget"],
		edits: [
			{
				file: lists,
				symbol: "listAhead",
				find: "Math.min(runClock(), $$all)",
				replace: "runClock()",
			},
		],
	},
	{
		name: "budgets-of-another-member",
		without: "taking the budgets of each member from what that member said",
		scenarios: ["met"],
		edits: [{ file: lists, symbol: "listAhead", find: "$said.get($member.id)", replace: "[...$said.values()].at(-1)" }],
	},
	{
		name: "silent-member-has-no-budgets",
		without: "failing a list of budgets where one member gives no answer",
		scenarios: ["met-in-silence"],
		edits: [
			{
				file: lists,
				symbol: "listBudgetsOf",
				find: "askMember($member, $namespaces)",
				replace:
					"askMember($member, $namespaces).catch(async () => ({ ...(await askMember(arguments[0][0], $namespaces)), clusterId: $member.id }))",
			},
		],
	},
	{
		name: "begins-without-a-silent-member",
		without: "refusing a fleet of which a member gives no answer",
		scenarios: ["met-without-a-member"],
		edits: [
			{
				file: fleet,
				symbol: "assembleFleet",
				find: "$current.problems.length > 0 && !$mayMiss",
				replace: "false",
			},
		],
	},
	{
		name: "begins-with-strangers",
		without: "refusing members that declare another fleet",
		scenarios: ["met-strangers"],
		edits: [{ file: fleet, symbol: "refuseDifferentFleets", find: "$details.length > 0", replace: "false" }],
	},
];
