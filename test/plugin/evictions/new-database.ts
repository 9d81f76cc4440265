import { FakeFleet } from "../../support/fake-fleet.ts";

export function newDatabase() {
	const fleet = new FakeFleet(["eu", "us", "ap"]);
	fleet.addBudget("db", { maxUnavailable: 1 });
	const pods = fleet.members.flatMap((member) =>
		["db-0", "db-1"].map((name) => ({ member, pod: member.addPod(name) })),
	);
	return { fleet, pods };
}
