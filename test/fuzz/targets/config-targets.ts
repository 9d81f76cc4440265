// Targets for configuration: kubeconfigs of plugin and agent, the fleet's ConfigMap, the agent's flags and environment.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "yaml";
import { parseFleet } from "../../../agent/cluster-api/fleet-config.ts";
import { ApiAccessError, kubeconfigAccess } from "../../../agent/kubernetes/api-access.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { ConfigError, parseConfig } from "../../../agent/process/config.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { InvalidFleetError } from "../../../disruption/budget/declared-fleet.ts";
import { type GlobalFlags, readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { AgentNamespacesError, findAgentNamespaces } from "../../../plugin/fleet/agent-pods.ts";
import { createCredentialReader } from "../../../plugin/kubernetes/api-credentials.ts";
import { ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { type Connection, resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { KubeconfigError } from "../../../plugin/terminal/errors.ts";
import { newClient } from "../../support/build-context.ts";
import { attempt, attemptAsync, demandPrintable } from "../clear-error.ts";
import { asyncTarget, demand, type FuzzTarget } from "../fuzz-target.ts";
import { applyEdits, jsonEdits, jsonOf } from "../json-edits.ts";
import { type Json, oddText } from "../odd-values.ts";
import { agentArguments, fleets, forgottenLists, kubeconfigs, yamlWords } from "../seed-configs.ts";
import { editedText } from "../text-edits.ts";

function scratchFile(): { readonly path: string; write(text: string): void; remove(): void } {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-fuzz-"));
	const path = join(folder, "file");
	return { path, write: (text) => writeFileSync(path, text), remove: () => rmSync(folder, { recursive: true }) };
}

/** Generates texts with edits of the text or of its contents. */
function editedYaml(seeds: readonly string[]): fc.Arbitrary<string> {
	const objects = seeds.map((seed) => (parse(seed) ?? {}) as Json);
	const fields = fc
		.tuple(fc.constantFrom(...objects), jsonEdits)
		.map(([object, edits]) => jsonOf(applyEdits(structuredClone(object), edits)));
	return fc.oneof(fields, editedText(seeds, yamlWords));
}

/** Collects warnings of libraries, which must not reach the user's terminal. */
function catchWarnings(): { readonly warnings: string[] } {
	const warnings: string[] = [];
	process.on("warning", ({ name, message }) => void warnings.push(`${name}: ${message}`));
	return { warnings };
}

const noFlags = readGlobalFlags({ "as-user-extra": [], contexts: [] });

const kubeconfigTarget: FuzzTarget = {
	name: "kubeconfig",
	reads: "kubeconfigs and the flags on top, by the plugin",
	share: 0.2,
	open: () => {
		const file = scratchFile();
		const { warnings } = catchWarnings();
		const flags: fc.Arbitrary<Partial<GlobalFlags>> = fc.oneof(
			{ weight: 4, arbitrary: fc.constant({}) },
			{
				weight: 1,
				arbitrary: fc.constantFrom<Partial<GlobalFlags>[]>(
					{ cluster: "plain" },
					{ user: "token" },
					{ user: "nobody" },
					{ server: "http://[" },
					{ server: "x y" },
					{ server: "ftp://127.0.0.1" },
					{ token: "a\nb" },
					{ asUserExtra: ["a=b", "%=x", "="], asGroup: ["g"] },
					{ certificateAuthority: "/nonexistent/ca.crt" },
					{ certificateAuthority: `/nonexistent/${"ü".repeat(5_000)}` },
				),
			},
		);
		const input = fc.record({ text: editedYaml(kubeconfigs), flags, named: fc.boolean() });
		return asyncTarget(
			input,
			async ({ text, flags: some, named }) => {
				file.write(text);
				warnings.length = 0;
				const all = { ...noFlags, ...some, ...(named && { kubeconfig: file.path }) };
				const env = { KUBECONFIG: `/nonexistent/x:${file.path}` };
				const config = attempt(() => loadKubeconfig(all, env), [KubeconfigError], file.path);
				// Warnings are emitted in the next turn.
				await new Promise(setImmediate);
				demand(warnings.length === 0, `It lets a library warn: ${warnings[0]}`);
				if (!config) return;
				for (const context of [undefined, ...[...config.contexts.keys()].slice(0, 3), "no such context"]) {
					const connection = attempt(
						() => resolveConnection(config, context, all, env),
						[KubeconfigError],
						/^(error|Error)/,
					);
					if (connection) await demandConnection(connection);
				}
			},
			() => file.remove(),
		);
	},
};

async function demandConnection(connection: Connection): Promise<void> {
	const { server, namespace, headers, exec, user } = connection;
	demand(
		URL.canParse(server) && /^https?:$/.test(new URL(server).protocol),
		`It took the server ${JSON.stringify(server)}`,
	);
	demand(namespace !== "", "It took no namespace");
	for (const [name, value] of Object.entries(headers)) {
		demand(/^[\w%.~!'()*-]+$/.test(name), `It would send the header ${JSON.stringify(name)}`);
		demand(
			[value].flat().every((each) => typeof each === "string"),
			"It would send a header that is no text",
		);
	}
	// The reader would run a program, or ask a provider of logins, that the kubeconfig names.
	if (exec !== undefined || user.authProvider !== undefined) return;
	const reader = createCredentialReader(connection);
	try {
		await attemptAsync(() => reader.current(), [ConnectionError, KubeconfigError]);
	} finally {
		reader.close();
	}
}

const agentKubeconfigTarget: FuzzTarget = {
	name: "agent-kubeconfig",
	reads: "kubeconfigs, by the agent",
	share: 0.2,
	open: () => {
		const file = scratchFile();
		const { warnings } = catchWarnings();
		return asyncTarget(
			editedYaml(kubeconfigs),
			async (text) => {
				file.write(text);
				warnings.length = 0;
				const access = await attemptAsync(() => kubeconfigAccess({ path: file.path }), [ApiAccessError], file.path);
				demand(warnings.length === 0, `It lets a library warn: ${warnings[0]}`);
				if (!access) return;
				demand(new URL(access.server).protocol === "https:", "It takes a server without TLS");
				const { servername } = attempt(() => access.tls(), [Error]) ?? {};
				demand(servername === undefined || typeof servername === "string", "It took a name that is no text");
				createApiConnection({ access, clock: systemClock, cluster: "eu-1" }).close();
			},
			() => file.remove(),
		);
	},
};

/** Edits of a text rarely produce a port of five digits. */
const fleetAtAnyPort = fc
	.nat(99_999)
	.map((port) => JSON.stringify([{ id: "one", name: "eu-1", address: `xpdb.example.com:${port}` }]));

const fleetTarget: FuzzTarget = {
	name: "fleet",
	reads: "the fleet's ConfigMap",
	share: 0.7,
	open: () => {
		const { warnings } = catchWarnings();
		const forgotten = fc.oneof(fc.constant(undefined), editedYaml(forgottenLists));
		const members = fc.oneof({ weight: 9, arbitrary: editedYaml(fleets) }, { weight: 1, arbitrary: fleetAtAnyPort });
		return asyncTarget(fc.record({ members, forgotten }), async (data) => {
			warnings.length = 0;
			const fleet = await attemptAsync(
				() => parseFleet(data.forgotten === undefined ? { members: data.members } : data),
				[InvalidFleetError],
			);
			demand(warnings.length === 0, `It lets a library warn: ${warnings[0]}`);
			if (!fleet) return;
			const { members } = fleet;
			demand(members.length > 0, "It took a fleet of nobody");
			const ids = [...members, ...fleet.forgotten].map(({ id }) => id);
			demand(new Set(ids).size === ids.length, "It took a member twice, or one that is forgotten");
			demand(new Set(members.map(({ name }) => name)).size === members.length, "It took two members of one name");
			for (const { id, name = "unnamed" } of [...members, ...fleet.forgotten]) {
				demand(
					[id, name].every((each) => typeof each === "string" && each !== ""),
					"It took half a member",
				);
				demandPrintable(`${id} ${name}`);
			}
			for (const { address } of members) {
				if (address === undefined) continue;
				demandPrintable(address);
				const port = Number(/:(\d+)$/.exec(address)?.[1]);
				demand(port >= 1 && port <= 65_535, `It took the address ${address}`);
			}
		});
	},
};

/** A target for the sidecars' namespaces in the ConfigMap. Agents in these namespaces are trusted, so nothing else may be read. */
const agentNamespacesTarget: FuzzTarget = {
	name: "agent-namespaces",
	reads: "the namespaces of agents in the fleet's ConfigMap, by the plugin",
	share: 0.5,
	open: () => {
		const seeds = ["- shop\n- payments\n", '["shop"]', "[]"];
		const odd = fc.oneof(fc.constantFrom<Json[]>(5, null, [], {}, ["shop"]), oddText);
		const input = fc.oneof({ weight: 5, arbitrary: editedYaml(seeds) }, { weight: 1, arbitrary: odd });
		return asyncTarget(input, async (namespaces) => {
			const client = newClient({ get: () => ({ data: { namespaces } }) });
			const found = await attemptAsync(
				() => findAgentNamespaces(client, "agents"),
				[AgentNamespacesError],
				"agents/xpdb-fleet",
			);
			if (!found) return;
			demand(found[0] === "agents", "The anchor is not the first");
			demand(
				found.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)),
				`It took the namespaces ${found.join(" ").slice(0, 200)}`,
			);
			demand(new Set(found).size === found.length && found.length <= 101, "It took some twice, or too many");
		});
	},
};

const agentConfigTarget: FuzzTarget = {
	name: "agent-config",
	reads: "the agent's flags and environment",
	share: 0.1,
	open: () => {
		const odd = fc.oneof(
			editedText(agentArguments, [
				"=",
				"--",
				"-",
				":",
				"[",
				"]",
				"--help",
				"--version",
				"--log-level=",
				"--__proto__.x=1",
			]),
			fc.constantFrom(
				"--help",
				"--log-level",
				"--get-yargs-completions",
				"--no-kubeconfig",
				"--kubeconfig.a=b",
				"word",
				"--",
				"-x",
			),
		);
		const env = fc.dictionary(
			fc.constantFrom(
				"XPDB_LOG_LEVEL",
				"POD_IP",
				"POD_IPS",
				"XPDB_POD_NAME",
				"KUBERNETES_SERVICE_HOST",
				"XPDB_LISTEN_ADDRESS",
				"XPDB_KUBECONFIG",
			),
			fc.oneof(
				oddText,
				fc.constantFrom("debug", "10.0.0.1", "10.0.0.1,fd00::7", "h:70000", "h:1", "a:8444", "fd00::7:1"),
			),
			{ maxKeys: 2 },
		);
		const input = fc.record({ drop: fc.nat(12), odd: fc.array(odd, { maxLength: 2 }), at: fc.nat(12), env });
		return asyncTarget(input, async ({ drop, odd: more, at, env: variables }) => {
			const args = agentArguments.filter((_, index) => index !== drop);
			args.splice(at, 0, ...more);
			const config = await attemptAsync(() => parseConfig(args, variables), [ConfigError]);
			if (!config || "help" in config) return;
			for (const { hosts, port } of [config.listen, config.peerListen, config.httpListen]) {
				demand(
					hosts.length > 0 && !hosts.includes("") && Number.isInteger(port) && port >= 0 && port <= 65_535,
					`It would listen on ${hosts.join(" and ")}, port ${port}`,
				);
			}
			const { pod, leaseNamespace, agentNamespace, fleetConfigMap } = config;
			const names = [pod.name, pod.namespace, leaseNamespace, agentNamespace, fleetConfigMap];
			demand(
				names.every((name) => /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)),
				`It took the names ${names.join(" ")}`,
			);
			demand(/^[0-9a-fA-F.:]+(%\S+)?$/.test(pod.ip), `It took the address ${pod.ip}`);
		});
	},
};

export const configTargets: readonly FuzzTarget[] = [
	kubeconfigTarget,
	agentKubeconfigTarget,
	fleetTarget,
	agentNamespacesTarget,
	agentConfigTarget,
];
