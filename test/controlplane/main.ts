import { join, relative } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { watchAncestors } from "../../demo/machine/ancestors.ts";
import { quote } from "../../demo/machine/plugin-launcher.ts";
import { SetupError } from "../../demo/machine/setup-error.ts";
import type { Fleet } from "./fleet.ts";
import { startFleet } from "./fleet.ts";

const stop = new AbortController();

async function main(): Promise<void> {
	const options = await yargs(hideBin(process.argv))
		.scriptName("npm run fleet --")
		.usage("$0 --dir DIR\n\nRuns whole Kubernetes clusters on this machine until Ctrl-C.")
		.option("clusters", { type: "number", default: 3, describe: "How many clusters" })
		.option("nodes", { type: "number", default: 3, describe: "Nodes in each cluster" })
		.option("dir", { type: "string", demandOption: true, describe: "Folder for the kubeconfig, logs and data" })
		.option("octet", { type: "number", describe: "Use 127.OCTET.0.0/16; left out, the first free one" })
		.option("agents", { type: "boolean", default: true, describe: "Install the agents, two in each cluster" })
		.option("oldest", { type: "string", describe: "Clusters of the oldest Kubernetes that is supported: c1,c3" })
		.check(({ clusters, nodes, octet, dir }) => {
			wholeNumber("clusters", clusters, 1, 50);
			wholeNumber("nodes", nodes, 1, 1000);
			if (octet !== undefined) {
				wholeNumber("octet", octet, 1, 254);
			}
			if (dir === "") {
				throw new Error("--dir needs a folder");
			}
			return true;
		})
		.strict()
		.showHelpOnFail(false, "Run it with --help to see all options")
		.version(false)
		.parse();
	const startedAt = performance.now();
	const fleet = await startFleet({
		clusters: options.clusters,
		nodes: options.nodes,
		dir: options.dir,
		agents: options.agents,
		...(options.octet === undefined ? {} : { octet: options.octet }),
		...(options.oldest === undefined ? {} : { oldest: options.oldest.split(",") }),
		log: (line) => console.log(line),
		signal: stop.signal,
	});
	printWelcome(fleet, (performance.now() - startedAt) / 1000);
	await new Promise<void>((resolve) => {
		// The children do not keep this process alive.
		const timer = setInterval(() => undefined, 1 << 30);
		const end = () => {
			clearInterval(timer);
			resolve();
		};
		if (stop.signal.aborted) {
			end();
		} else {
			stop.signal.addEventListener("abort", end);
		}
	});
	console.log("Stopping");
	await fleet.stop();
}

function wholeNumber(name: string, value: number, minimum: number, maximum: number): void {
	if (!Number.isInteger(value) || value < minimum || value > maximum) {
		throw new Error(`--${name} must be a whole number from ${minimum} to ${maximum}`);
	}
}

function printWelcome(fleet: Fleet, seconds: number): void {
	const shown = (path: string) => {
		const short = relative(process.cwd(), path);
		return quote(short.startsWith("..") ? path : short);
	};
	const contexts = fleet.contexts.join(" ");
	const nodes = fleet.contexts.map((context) => `${context}/${context}-n0`).join(" ");
	console.log(
		[
			"",
			`${fleet.clusters.length === 1 ? "1 cluster is" : `${fleet.clusters.length} clusters are`} ready after ${seconds.toFixed(1)} s: ${contexts}`,
			"",
			"In another terminal:",
			`  export KUBECONFIG=${quote(fleet.kubeconfigPath)} PATH=${quote(join(fleet.dir, "bin"))}:$PATH`,
			"  kubectl --context c1 get nodes",
			`  for c in ${contexts}; do kubectl --context $c apply -f ${quote(join(fleet.dir, "demo.yaml"))}; done`,
			...(fleet.agents.length > 0
				? [`  kubectl xpdb drain --contexts=${fleet.contexts.join(",")} ${nodes} --ignore-daemonsets`]
				: []),
			"",
			`Logs and audit logs are in ${shown(fleet.dir)}/c1 and following. Ctrl-C ends everything.`,
		].join("\n"),
	);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
	process.on(signal, () => {
		if (stop.signal.aborted && signal === "SIGINT") {
			// The children die with this process.
			process.exit(130);
		}
		stop.abort(new SetupError("Stopped before the fleet was ready"));
	});
}

watchAncestors(() => stop.abort(new SetupError("Stopped: the process that started the fleet is gone")));
try {
	await main();
	process.exit(0);
} catch (error) {
	if (!(error instanceof SetupError)) {
		throw error;
	}
	console.error(`error: ${error.message}${error.hint === undefined ? "" : `\n${error.hint}`}`);
	process.exit(1);
}
