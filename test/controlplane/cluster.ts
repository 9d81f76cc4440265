import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { createApiClient } from "../../demo/machine/api-client.ts";
import type { ClusterCertificates } from "../../demo/machine/certificates.ts";
import { createClusterCertificates } from "../../demo/machine/certificates.ts";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import type { ManagedProcess } from "../../demo/machine/process.ts";
import { startProcess, tailOf } from "../../demo/machine/process.ts";
import { SetupError } from "../../demo/machine/setup-error.ts";
import type { Binaries } from "./binaries.ts";
import type { ClusterPlace, ComponentName } from "./components.ts";
import { apiserverPort, componentSpec, kwokPort, serviceRange } from "./components.ts";
import { AddressInUseError } from "./fleet-errors.ts";
import { createNodes, waitForNodes } from "./nodes.ts";
import { installPortForwards } from "./port-forwards.ts";
import { Supervisor } from "./supervisor.ts";

export type ClusterOptions = {
	readonly binaries: Binaries;
	readonly octet: number;
	readonly index: number;
	readonly nodes: number;
	readonly dir: string;
	readonly extraFlags?: Partial<Record<ComponentName, readonly string[]>>;
	readonly signal?: AbortSignal;
};

export type RunningCluster = {
	readonly name: string;
	readonly index: number;
	readonly octet: number;
	readonly address: string;
	readonly server: string;
	/** The UID of kube-system, as agents report it. */
	readonly id: string;
	readonly dir: string;
	/** The administrator's kubeconfig. Its only context is named like the cluster. */
	readonly kubeconfigPath: string;
	readonly auditLog: string;
	readonly certificates: ClusterCertificates;
	readonly client: ApiClient;
	readonly components: Readonly<Record<ComponentName, ManagedProcess>>;
	freeze(component: ComponentName): void;
	thaw(component: ComponentName): void;
	kill(component: ComponentName): Promise<void>;
	/** Restarts the component with the same flags and waits until it is ready. Kills it first if it still runs. */
	restart(component: ComponentName): Promise<void>;
	stop(): Promise<void>;
};

const here = dirname(fileURLToPath(import.meta.url));
// Three clusters start in 8 s on two idle cores. A busy machine needs several times that.
const startTimeoutMs = 120_000;

/** Starts one complete cluster. Resolves when its nodes accept pods. */
export async function startCluster(options: ClusterOptions): Promise<RunningCluster> {
	const place: ClusterPlace = {
		index: options.index,
		name: `c${options.index}`,
		address: `127.${options.octet}.${options.index}.1`,
		dir: options.dir,
		certificates: join(options.dir, "pki"),
	};
	const certificates = await prepare(place);
	const server = `https://${place.address}:${apiserverPort}`;
	const client = createApiClient({
		server,
		authority: certificates.authority.certificate,
		credentials: certificates.pairs.admin,
	});
	const started: Partial<Record<ComponentName, ManagedProcess>> = {};
	const start = (component: ComponentName): ManagedProcess => {
		const spec = componentSpec(component, place, options.binaries, options.extraFlags?.[component]);
		return (started[component] = startProcess(spec));
	};
	const wait = (component: ComponentName) =>
		waitUntilReady({ component, place, client, started, signal: options.signal });
	const supervisor = new Supervisor();
	const stop = async () => {
		client.close();
		for (const process of Object.values(started)) supervisor.release(process);
		await Promise.all(
			[started.kwok, started.scheduler, started["controller-manager"]].map(async (process) => await process?.stop()),
		);
		await started.apiserver?.stop();
		await started.etcd?.stop();
	};
	try {
		start("etcd");
		await wait("etcd");
		start("apiserver");
		await wait("apiserver");
		start("controller-manager");
		start("scheduler");
		await Promise.all([createNodes(client, place, options.nodes), installPortForwards(client)]);
		start("kwok");
		await Promise.all([wait("kwok"), wait("scheduler"), wait("controller-manager")]);
		await poll({ place, started, signal: options.signal, what: "nodes that take pods" }, () =>
			waitForNodes(client, options.nodes),
		);
		const { metadata } = await client.get<{ metadata: { uid: string } }>("/api/v1/namespaces/kube-system");
		const components = started as Record<ComponentName, ManagedProcess>;
		for (const process of Object.values(components)) supervisor.watch(process);
		return {
			name: place.name,
			index: place.index,
			octet: options.octet,
			address: place.address,
			server,
			id: metadata.uid,
			dir: place.dir,
			kubeconfigPath: join(place.dir, "kubeconfig"),
			auditLog: join(place.dir, "audit.jsonl"),
			certificates,
			client,
			components,
			freeze: (component) => components[component].freeze(),
			thaw: (component) => components[component].thaw(),
			async kill(component) {
				supervisor.release(components[component]);
				await components[component].kill();
			},
			async restart(component) {
				supervisor.release(components[component]);
				await components[component].kill();
				components[component].restart();
				supervisor.watch(components[component]);
				// Watches only this component, because others may be down on purpose.
				await waitUntilReady({
					component,
					place,
					client,
					started: { [component]: components[component] },
					signal: undefined,
				});
			},
			stop,
		};
	} catch (error) {
		const failure = describeFailure(error, place, started);
		await Promise.all(Object.values(started).map((process) => process.kill()));
		client.close();
		throw failure;
	}
}

async function prepare(place: ClusterPlace): Promise<ClusterCertificates> {
	for (const folder of ["", "tmp", "home", "etcd"]) {
		mkdirSync(join(place.dir, folder), { recursive: true, mode: 0o700 });
	}
	cpSync(join(here, "audit-policy.yaml"), join(place.dir, "audit-policy.yaml"));
	cpSync(join(here, "kwok.yaml"), join(place.dir, "kwok.yaml"));
	const certificates = await createClusterCertificates({
		name: place.name,
		address: place.address,
		serviceAddress: serviceRange(place.index).replace(/0\/24$/, "1"),
		folder: place.certificates,
	});
	const users = {
		kubeconfig: "admin",
		"controller-manager.kubeconfig": "controller-manager",
		"scheduler.kubeconfig": "scheduler",
		"kwok.kubeconfig": "kwok",
	} as const;
	for (const [file, user] of Object.entries(users)) {
		writeKubeconfig(join(place.dir, file), [
			{
				context: place.name,
				cluster: place.name,
				server: `https://${place.address}:${apiserverPort}`,
				authority: certificates.authority.certificate,
				user,
				credentials: certificates.pairs[user],
			},
		]);
	}
	// A reader may open the audit log before the first event.
	writeFileSync(join(place.dir, "audit.jsonl"), "", { flag: "a", mode: 0o600 });
	return certificates;
}

type Waiting = {
	readonly place: ClusterPlace;
	readonly started: Partial<Record<ComponentName, ManagedProcess>>;
	readonly signal: AbortSignal | undefined;
	readonly what: string;
};

async function waitUntilReady(options: {
	readonly component: ComponentName;
	readonly place: ClusterPlace;
	readonly client: ApiClient;
	readonly started: Partial<Record<ComponentName, ManagedProcess>>;
	readonly signal: AbortSignal | undefined;
}): Promise<void> {
	const { component, place, client } = options;
	const checks: Record<ComponentName, () => Promise<boolean>> = {
		etcd: async () => await answersOk(`http://${place.address}:2379/health`),
		apiserver: async () => (await client.get<string>("/readyz")) === "ok",
		// Pod admission requires this ServiceAccount, which the controller manager creates.
		"controller-manager": async () => {
			await client.get("/api/v1/namespaces/default/serviceaccounts/default");
			return true;
		},
		// Not checked, because its port has a self-signed certificate. Pods wait until it works.
		scheduler: () => Promise.resolve(true),
		kwok: async () => await answersOk(`http://${place.address}:${kwokPort}/healthz`),
	};
	await poll({ ...options, what: component }, checks[component]);
}

async function answersOk(url: string): Promise<boolean> {
	return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok;
}

async function poll(waiting: Waiting, check: () => Promise<boolean>): Promise<void> {
	const { place, what } = waiting;
	const deadline = performance.now() + startTimeoutMs;
	let last: unknown;
	for (;;) {
		waiting.signal?.throwIfAborted();
		for (const process of Object.values(waiting.started)) {
			if (!process.running) {
				throw new SetupError(`${process.name} ended while ${place.name} waited for ${what}`, {
					hint: `Its last words, from ${process.logFile}:\n${tailOf(process.logFile)}`,
				});
			}
		}
		try {
			if (await check()) {
				return;
			}
		} catch (error) {
			last = error;
		}
		if (performance.now() > deadline) {
			throw new SetupError(`${place.name} still waits for ${what} after ${startTimeoutMs / 1000} s`, {
				hint: `The logs are in ${place.dir}`,
				cause: last,
			});
		}
		await delay(50);
	}
}

// Recognises a port in use by the message of Go's net package.
function describeFailure(
	error: unknown,
	place: ClusterPlace,
	started: Partial<Record<ComponentName, ManagedProcess>>,
): unknown {
	const culprit = Object.values(started).find(
		(process) => !process.running && readFileSync(process.logFile, "utf8").includes("address already in use"),
	);
	if (culprit === undefined) {
		return error;
	}
	return new AddressInUseError(`${culprit.name} cannot listen on ${place.address}: address already in use`, {
		hint: "Choose another octet, or end the process that listens there",
		cause: error,
	});
}
