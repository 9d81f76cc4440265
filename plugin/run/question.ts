// Words what a run is about to change, for the user to confirm.
import type { PodEvent, RunCommand } from "../events/events.ts";
import type { PodTarget } from "../evictions/pod-targets.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { counted } from "../terminal/counted.ts";

const maxNamedPods = 5;

export function question(
	command: RunCommand,
	{ nodes, pods }: { readonly nodes: readonly NodeTarget[]; readonly pods: readonly PodTarget[] },
): readonly string[] {
	return command === "evict" ? aboutPods(pods) : aboutNodes(command, nodes);
}

function aboutNodes(command: RunCommand, nodes: readonly NodeTarget[]): readonly string[] {
	const byContext = Map.groupBy(nodes, ({ context }) => context.name);
	const width = Math.max(...[...byContext.keys()].map((name) => name.length), 0);
	return [
		`${command.charAt(0).toUpperCase()}${command.slice(1)} ${counted(nodes.length, "node")} in ${counted(byContext.size, "context")}:`,
		...[...byContext].map(
			([name, targets]) => `  ${name.padEnd(width)}  ${targets.map((node) => node.name).join(", ")}`,
		),
	];
}

function aboutPods(pods: readonly PodTarget[]): readonly string[] {
	const byContext = Map.groupBy(pods, ({ context }) => context.name);
	return [
		`Evict ${pods.length} pods in ${byContext.size} contexts:`,
		...[...byContext].map(([name, targets]) => `  ${name}  ${counted(targets.length, "pod")}: ${nameList(targets)}`),
	];
}

function nameList(targets: readonly PodTarget[]): string {
	const names = targets.slice(0, maxNamedPods).map((target) => {
		const { namespace, pod } = targetPod(target);
		return `${namespace}/${pod}`;
	});
	return `${names.join(", ")}${targets.length > names.length ? ", ..." : ""}`;
}

export function targetPod({ context, pod }: PodTarget): PodEvent {
	const { namespace = "", name = "", uid = "" } = pod.metadata ?? {};
	return { context: context.name, namespace, pod: name, uid };
}
