import { hostPort } from "../machine/endpoint.ts";
import { SetupError } from "../machine/setup-error.ts";

export type AgentPodObject = {
	readonly metadata: {
		readonly name: string;
		readonly namespace: string;
		readonly uid: string;
		readonly resourceVersion: string;
		readonly labels?: Readonly<Record<string, string>>;
		readonly deletionTimestamp?: string;
		readonly deletionGracePeriodSeconds?: number;
	};
	readonly spec: {
		readonly nodeName?: string;
		readonly serviceAccountName?: string;
		readonly containers: readonly AgentContainer[];
		readonly initContainers?: readonly (AgentContainer & { readonly restartPolicy?: string })[];
	};
	readonly status?: {
		readonly phase?: string;
		readonly conditions?: readonly { readonly type: string; readonly status: string }[];
	};
};

export type AgentContainer = {
	readonly name: string;
	readonly image?: string;
	readonly command?: readonly string[];
	readonly args?: readonly string[];
	readonly env?: readonly {
		readonly name: string;
		readonly value?: string;
		readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
	}[];
	readonly resources?: { readonly limits?: { readonly memory?: string } };
};

/** The ports on which an agent's process listens on this machine. A pod of the shipped Deployment declares `shippedPorts`. */
export type AgentPorts = { readonly grpc: number; readonly peers: number; readonly http: number };

export const shippedPorts: AgentPorts = { grpc: 8443, peers: 8444, http: 8080 };

/** The addresses and files on this machine that replace those of a real pod. */
export type AgentPlace = {
	readonly ip: string;
	readonly ports: AgentPorts;
	readonly hostIp: string;
	readonly program: string;
	readonly kubeconfig: string;
	readonly certificate: string;
	readonly key: string;
	readonly clientAuthority: string;
};

/** The agent is the pod's sidecar, if it has one. */
export function agentContainer({ spec }: AgentPodObject): AgentContainer | undefined {
	return spec.initContainers?.find(({ restartPolicy }) => restartPolicy === "Always") ?? spec.containers[0];
}

/**
 * Turns the pod's command into that of a local process. Flags for addresses, files and the pod's identity are replaced. All others stay as
 * shipped.
 */
export function agentCommand(pod: AgentPodObject, place: AgentPlace): { args: string[]; env: Record<string, string> } {
	const container = agentContainer(pod);
	if (container === undefined) {
		throw new SetupError(`Pod "${pod.metadata.namespace}/${pod.metadata.name}" has no container`);
	}
	const env = environmentOf(container, pod, place);
	const words = [...(container.command ?? []), ...(container.args ?? [])].map((word) => expand(word, env));
	const script = words.findIndex((word) => /\.[cm]?js$/.test(word));
	const nodeFlags = words.slice(0, Math.max(0, script)).filter((word) => word.startsWith("--"));
	const listen = (port: keyof AgentPorts): string => hostPort({ host: place.ip, port: place.ports[port] });
	const overrides = {
		"listen-address": listen("grpc"),
		"peer-listen-address": listen("peers"),
		"http-listen-address": listen("http"),
		kubeconfig: place.kubeconfig,
		"tls-cert-file": place.certificate,
		"tls-private-key-file": place.key,
		"client-ca-file": place.clientAuthority,
		"pod-name": pod.metadata.name,
		"pod-namespace": pod.metadata.namespace,
		"pod-ip": place.ip,
	};
	return {
		args: [
			...nodeFlags,
			place.program,
			...withoutFlags(words.slice(script + 1), Object.keys(overrides)),
			...Object.entries(overrides).map(([flag, value]) => `--${flag}=${value}`),
		],
		env,
	};
}

function withoutFlags(words: readonly string[], flags: readonly string[]): string[] {
	const kept: string[] = [];
	for (let at = 0; at < words.length; at++) {
		const word = words[at] ?? "";
		const flag = flags.find((name) => word === `--${name}` || word.startsWith(`--${name}=`));
		if (flag === undefined) {
			kept.push(word);
		} else if (word === `--${flag}`) {
			at++;
		}
	}
	return kept;
}

function environmentOf(container: AgentContainer, pod: AgentPodObject, place: AgentPlace): Record<string, string> {
	const fields: Readonly<Record<string, string>> = {
		"metadata.name": pod.metadata.name,
		"metadata.namespace": pod.metadata.namespace,
		"metadata.uid": pod.metadata.uid,
		"spec.nodeName": pod.spec.nodeName ?? "",
		"spec.serviceAccountName": pod.spec.serviceAccountName ?? "default",
		"status.podIP": place.ip,
		"status.podIPs": place.ip,
		"status.hostIP": place.hostIp,
	};
	const env: Record<string, string> = {};
	for (const { name, value, valueFrom } of container.env ?? []) {
		const path = valueFrom?.fieldRef?.fieldPath;
		const resolved = path === undefined ? expand(value ?? "", env) : fields[path];
		if (resolved === undefined || (valueFrom !== undefined && path === undefined)) {
			throw new SetupError(
				`Cannot resolve the variable "${name}" of pod "${pod.metadata.namespace}/${pod.metadata.name}": ${path ?? "only values and fieldRef are known here"}`,
			);
		}
		env[name] = name === "NODE_OPTIONS" ? withinLimit(resolved, container) : resolved;
	}
	return env;
}

/**
 * Returns Node's options with the heap size in MB instead of in percent of the container's memory limit. Node cannot see that limit here,
 * because the process runs in no container.
 */
function withinLimit(options: string, { resources }: AgentContainer): string {
	const [, number = "", unit] = /^(\d+)(Mi|Gi)$/.exec(resources?.limits?.memory ?? "") ?? [];
	if (number === "") return options;
	const limitMb = Number(number) * (unit === "Gi" ? 1024 : 1);
	return options.replace(
		/--max-old-space-size-percentage=(\d+)/,
		(_, share: string) => `--max-old-space-size=${Math.floor((limitMb * Number(share)) / 100)}`,
	);
}

// Expands "$(NAME)" as Kubernetes does. A name that is not defined stays as it is.
function expand(text: string, env: Readonly<Record<string, string>>): string {
	return text.replaceAll(/\$\(([\w.-]+)\)/g, (whole, name: string) => env[name] ?? whole);
}
