// Starts small clusters as one fleet, each in a separate process.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import type { PodTimes } from "./apiserver/controllers/kubelet.ts";
import { createSmallCertificates } from "./apiserver/small-certificates.ts";
import type { FromCluster, ToCluster } from "./cluster-messages.ts";
import {
	createAuthority,
	type IssuedCertificates,
	issueAgentCertificate,
	type KeyPair,
} from "./machine/certificates.ts";
import { writeKubeconfig } from "./machine/kubeconfig.ts";
import { tailOf } from "./machine/process.ts";
import { SetupError } from "./machine/setup-error.ts";

export interface PodHealth {
	readonly cluster: string;
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly node: string;
	readonly healthy: boolean;
}

export interface SmallFleetOptions {
	readonly names: readonly string[];
	readonly dir: string;
	/** The first cluster's port; the others follow. 0 means any free ports. */
	readonly port: number;
	readonly nodes: number;
	readonly times: PodTimes;
	readonly program: Promise<string>;
	readonly environment: Readonly<Record<string, string>>;
	readonly onPod: (health: PodHealth) => void;
}

export interface SmallFleet {
	/** Has the contexts NAME (administrator) and NAME-operator (alice). */
	readonly kubeconfigPath: string;
	readonly auditLogs: readonly { readonly name: string; readonly auditLog: string }[];
	/** Rejects when a cluster's process ends unexpectedly. */
	readonly broken: Promise<never>;
	stop(): Promise<void>;
}

interface Member {
	readonly name: string;
	readonly dir: string;
	readonly child: ChildProcess;
	readonly exited: Promise<void>;
	readonly messages: (listener: (message: FromCluster) => void) => void;
}

type UpMember = Member & Started & { readonly certificates: IssuedCertificates; readonly agentPair: KeyPair };
type Started = Extract<FromCluster, { kind: "started" }>;

const entry = join(import.meta.dirname, "cluster-process.ts");

/** Starts the clusters' processes. `ready` resolves once they have been told to install the agents. */
export function startSmallFleet(options: SmallFleetOptions): { ready: Promise<SmallFleet>; stop(): Promise<void> } {
	const members = options.names.map((name) => launch(name, options));
	let isStopping = false;
	const stop = async (): Promise<void> => {
		isStopping = true;
		for (const { child } of members) if (child.connected) child.send({ kind: "stop" } satisfies ToCluster);
		await Promise.all(members.map(({ exited }) => exited));
	};
	const broken = Promise.race(
		members.map(async ({ name, dir, exited }) => {
			await exited;
			if (isStopping) return new Promise<never>(() => undefined);
			const log = join(dir, "cluster.log");
			throw new SetupError(`The process of cluster "${name}" ended`, { hint: `Its last words:\n${tailOf(log)}` });
		}),
	);
	broken.catch(() => undefined);
	return { stop, ready: Promise.race([broken, bringUp(options, members, { broken, stop })]) };
}

async function bringUp(
	options: SmallFleetOptions,
	members: readonly Member[],
	parts: Pick<SmallFleet, "broken" | "stop">,
): Promise<SmallFleet> {
	const authority = await createAuthority("xpdb-fleet-ca");
	const started = await Promise.all(
		members.map(async (member, at): Promise<UpMember> => {
			const { name, dir } = member;
			// Made here while the cluster's process starts.
			const { authority: own, pairs } = await createSmallCertificates(name, dir);
			const certificates = { authority: { certificate: own.certificate }, pairs };
			const { port, nodes, times, environment } = options;
			const program = await options.program;
			const isUp = untilStarted(member);
			member.messages((message) => {
				if (message.kind === "pod") options.onPod({ cluster: name, ...message });
			});
			send(member, {
				kind: "start",
				name,
				dir,
				port: port === 0 ? 0 : port + at,
				nodes,
				times,
				program,
				certificates,
				fleetCertificate: authority.certificate,
				environment,
			});
			const up = await isUp;
			const agentPair = await issueAgentCertificate(authority, { clusterId: up.id });
			return { ...member, ...up, certificates, agentPair };
		}),
	);
	const declared = started.map(({ name, id, peerAddress }) => ({ name, id, address: peerAddress }));
	for (const member of started) send(member, { kind: "install", members: declared, agentPair: member.agentPair });
	const kubeconfigPath = join(options.dir, "kubeconfig");
	writeKubeconfig(kubeconfigPath, started.flatMap(kubeconfigEntries));
	return { ...parts, kubeconfigPath, auditLogs: started.map(({ name, auditLog }) => ({ name, auditLog })) };
}

function launch(name: string, options: SmallFleetOptions): Member {
	const dir = join(options.dir, name);
	mkdirSync(dir, { mode: 0o700 });
	const log = openSync(join(dir, "cluster.log"), "a", 0o600);
	const child = spawn(process.execPath, [entry], {
		stdio: ["ignore", log, log, "ipc"],
		// A separate session, so that Ctrl-C in the terminal reaches only this process, which stops the clusters in order.
		detached: true,
		env: { ...process.env, ...options.environment },
	});
	closeSync(log);
	const exited = new Promise<void>((resolve) => {
		child.once("exit", () => resolve());
		child.once("error", () => resolve());
	});
	return { name, dir, child, exited, messages: (listener) => void child.on("message", listener) };
}

function send({ child }: Member, message: ToCluster): void {
	// `broken` reports a process that is already gone.
	child.send(message, () => undefined);
}

function untilStarted(member: Member): Promise<Started> {
	return new Promise((resolve, reject) => {
		member.messages((message) => {
			if (message.kind === "started") resolve(message);
			if (message.kind !== "failed") return;
			const hint = message.hint ?? `Its log:\n${tailOf(join(member.dir, "cluster.log"))}`;
			reject(new SetupError(`Cannot start cluster "${member.name}": ${message.message}`, { hint }));
		});
	});
}

function kubeconfigEntries({ name, server, certificates }: UpMember) {
	return (["admin", "operator"] as const).map((user) => ({
		context: user === "admin" ? name : `${name}-operator`,
		cluster: name,
		server,
		authority: certificates.authority.certificate,
		user,
		credentials: certificates.pairs[user],
	}));
}
