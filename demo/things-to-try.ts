// Prints commands to try when the demonstration is over (`npm start -- --keep`).
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { quote, writePluginLauncher } from "./machine/plugin-launcher.ts";
import type { Narrator } from "./narrator.ts";

export interface Offer {
	readonly narrator: Narrator;
	readonly dir: string;
	readonly plugin: string;
	readonly kubeconfig: string;
	readonly names: readonly string[];
}

export function offerThingsToTry({ narrator, dir, plugin, kubeconfig, names }: Offer): void {
	const bin = writePluginLauncher(dir, plugin);
	const hasKubectl = findsKubectl();
	const xpdb = hasKubectl ? "kubectl xpdb" : "kubectl-xpdb";
	const [first = "", second = ""] = names;
	const contexts = names.map((name) => `${name}-operator`).join(",");
	const drained = names.map((name) => `${name}-operator/${name}-n1`).join(" ");
	const things: readonly (readonly [text: string, command: string, needsKubectl: boolean])[] = [
		["What the budget says:", `${xpdb} budgets --contexts ${contexts}`, false],
		["Pods as they come and go; leave it open:", `kubectl --context ${first} get pods -o wide -w`, true],
		["Another node in each cluster:", `${xpdb} drain ${drained} --contexts ${contexts} --ignore-daemonsets -y`, false],
		[
			"What kubectl alone does: it asks no other cluster. Cordon, drain, and take the cordon away:",
			`kubectl --context ${second} cordon ${second}-n2; kubectl --context ${second} drain ${second}-n2; kubectl --context ${second} uncordon ${second}-n2`,
			true,
		],
		["A pod that is deleted comes back:", `kubectl --context ${second} delete pod db-0`, true],
	];
	narrator.heading("The clusters keep running until Ctrl-C. In another terminal:");
	narrator.command(`export KUBECONFIG=${quote(kubeconfig)} PATH=${quote(bin)}:$PATH`);
	if (!hasKubectl) narrator.say("There is no kubectl on your PATH; what needs it is marked with a star.");
	for (const [at, [text, command, needsKubectl]] of things.entries()) {
		narrator.blank();
		narrator.say(`${at + 1}. ${text}${needsKubectl && !hasKubectl ? " *" : ""}`);
		narrator.command(command);
	}
	narrator.blank();
	narrator.say(
		`Contexts: ${names.join(", ")} as the administrator; with "-operator" as alice, who may drain and little else.`,
	);
}

function findsKubectl(): boolean {
	return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, "kubectl")));
}
