// Records two drains of three real clusters whose budgets are used up: one from beginning to end, and one with a question and an outage.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Fleet } from "../controlplane/fleet.ts";
import { record } from "./recording.ts";
import { workloads } from "./workloads.ts";

const run = promisify(execFile);
const escapeKey = "\u001b";
const upKey = "\u001b[A";

export async function playDrains(fleet: Fleet, save: (name: string, picture: string) => void): Promise<void> {
	for (const context of fleet.contexts) await fill(fleet, context);
	const drain = (index: number, columns: number, rows: number) =>
		record({
			program: join(fleet.dir, "bin", "kubectl-xpdb"),
			args: [
				"drain",
				...fleet.contexts.map((context) => `${context}-operator/${context}-n${index}`),
				"--contexts",
				fleet.contexts.map((context) => `${context}-operator`).join(","),
				"--ignore-daemonsets",
				"--pod-selector=app in (api, ledger)",
				"-y",
			],
			columns,
			rows,
			env: { KUBECONFIG: fleet.kubeconfigPath },
		});

	const first = drain(0, 100, 26);
	save(
		"drain",
		await first.moving("kubectl xpdb drain of three clusters: their nodes, the budgets, and who waits for what"),
	);

	const { terminal, still, moving } = drain(1, 140, 34);
	await terminal.shows(/WAITING [1-9]/);
	terminal.press(upKey);
	terminal.press("e");
	await terminal.shows("Used up by:");
	save("explain", still("why a pod waits: the budget, its numbers, who uses it up, when that frees and what helps"));
	terminal.press(escapeKey);
	const [, , last = ""] = fleet.contexts;
	await fleet.control.setAgentRestarts(last, false);
	for (const { name } of await fleet.control.listAgents(last)) await fleet.control.killAgent(last, name);
	await terminal.shows(/no answer for [3-9]s/);
	save("outage", still("a drain while the agents of one cluster give no answer: nothing is evicted until they do"));
	await fleet.control.setAgentRestarts(last, true);
	await moving("");
}

async function fill(fleet: Fleet, context: string): Promise<void> {
	const kubectl = async (args: readonly string[], input = ""): Promise<void> => {
		const flags = [`--kubeconfig=${fleet.kubeconfigPath}`, `--context=${context}`];
		const running = run(join(fleet.dir, "bin", "kubectl"), [...flags, ...args]);
		running.child.stdin?.end(input);
		await running;
	};
	await kubectl(["apply", "-f", "-"], JSON.stringify(workloads));
	for (const name of ["api", "ledger"])
		await kubectl(["rollout", "status", `statefulset/${name}`, "-n", "payments", "--timeout=180s"]);
}
