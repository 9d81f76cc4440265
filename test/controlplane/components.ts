import { join } from "node:path";
import type { ProcessSpec } from "../../demo/machine/process.ts";
import type { Binaries } from "./binaries.ts";

/** In start order. When a cluster stops, the last three stop first, at the same time. Then the API server stops, and then etcd. */
export const componentNames = ["etcd", "apiserver", "controller-manager", "scheduler", "kwok"] as const;
export type ComponentName = (typeof componentNames)[number];

export type ClusterPlace = {
	/** The number in the name: 1 for c1. */
	readonly index: number;
	readonly name: string;
	/** 127.<octet>.<index>.1, the only address on which the cluster's components listen. */
	readonly address: string;
	readonly dir: string;
	readonly certificates: string;
};

export const apiserverPort = 6443;
export const kwokPort = 10247;

export function serviceRange(index: number): string {
	return `10.0.${index}.0/24`;
}

/** Returns the pod range of one node, a part of 10.<200 + index>.0.0/16. */
export function podRange(place: ClusterPlace, node: { readonly number: number; readonly of: number }): string {
	const bits = Math.max(4, Math.ceil(Math.log2(node.of)));
	const offset = node.number * 2 ** (16 - bits);
	return `10.${200 + place.index}.${offset >> 8}.${offset & 255}/${16 + bits}`;
}

// A test run needs at most five minutes of history. 150,000 pods take 2 GiB.
const etcdHistory = [
	"--auto-compaction-mode=periodic",
	"--auto-compaction-retention=5m",
	"--quota-backend-bytes=8589934592",
];

// Only the controllers that the tests need: 90 MB instead of 150.
const controllers = [
	"serviceaccount-controller",
	"root-ca-certificate-publisher-controller",
	"namespace-controller",
	"garbage-collector-controller",
	"pod-garbage-collector-controller",
	"clusterrole-aggregation-controller",
	"deployment-controller",
	"replicaset-controller",
	"statefulset-controller",
	"daemonset-controller",
	"job-controller",
	"disruption-controller",
	"node-lifecycle-controller",
	"taint-eviction-controller",
	"validatingadmissionpolicy-status-controller",
];

export function componentSpec(
	component: ComponentName,
	place: ClusterPlace,
	binaries: Binaries,
	extraFlags: readonly string[] = [],
): ProcessSpec {
	const programs: Record<ComponentName, keyof Binaries> = {
		etcd: "etcd",
		apiserver: "kube-apiserver",
		"controller-manager": "kube-controller-manager",
		scheduler: "kube-scheduler",
		kwok: "kwok",
	};
	return {
		name: `${place.name} ${programs[component]}`,
		command: binaries[programs[component]],
		args: [...flagsOf(component, place), ...extraFlags],
		// Trades memory for processor time: Go collects garbage when the heap is five times its live data, instead of twice.
		env: { PATH: process.env["PATH"] ?? "", HOME: join(place.dir, "home"), GOGC: "400" },
		cwd: place.dir,
		logFile: join(place.dir, `${component}.log`),
	};
}

function flagsOf(component: ComponentName, place: ClusterPlace): string[] {
	const { address, dir, index, name } = place;
	const pki = (file: string) => join(place.certificates, file);
	const kubeconfig = `--kubeconfig=${join(dir, `${component}.kubeconfig`)}`;
	switch (component) {
		case "etcd":
			return [
				`--name=${name}`,
				`--data-dir=${join(dir, "etcd")}`,
				// A killed process still loses nothing. Only a failing machine loses data.
				"--unsafe-no-fsync",
				"--log-level=warn",
				`--listen-client-urls=http://${address}:2379`,
				`--advertise-client-urls=http://${address}:2379`,
				`--listen-peer-urls=http://${address}:2380`,
				`--initial-advertise-peer-urls=http://${address}:2380`,
				`--initial-cluster=${name}=http://${address}:2380`,
				...etcdHistory,
			];
		case "apiserver":
			return [
				`--etcd-servers=http://${address}:2379`,
				`--bind-address=${address}`,
				`--advertise-address=${address}`,
				`--secure-port=${apiserverPort}`,
				"--endpoint-reconciler-type=none",
				`--service-cluster-ip-range=${serviceRange(index)}`,
				"--allow-privileged=true",
				`--cert-dir=${join(dir, "tmp")}`,
				`--tls-cert-file=${pki("apiserver.crt")}`,
				`--tls-private-key-file=${pki("apiserver.key")}`,
				`--client-ca-file=${pki("ca.crt")}`,
				"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
				`--service-account-signing-key-file=${pki("sa.key")}`,
				`--service-account-key-file=${pki("sa.pub")}`,
				"--authorization-mode=RBAC",
				"--kubelet-preferred-address-types=InternalIP",
				"--event-ttl=10m",
				"--profiling=false",
				"--default-not-ready-toleration-seconds=30",
				"--default-unreachable-toleration-seconds=30",
				`--audit-policy-file=${join(dir, "audit-policy.yaml")}`,
				`--audit-log-path=${join(dir, "audit.jsonl")}`,
				"--audit-log-maxsize=200",
			];
		case "controller-manager":
			return [
				kubeconfig,
				`--bind-address=${address}`,
				"--secure-port=10257",
				"--leader-elect=false",
				"--use-service-account-credentials=true",
				`--service-account-private-key-file=${pki("sa.key")}`,
				`--root-ca-file=${pki("ca.crt")}`,
				"--kube-api-qps=500",
				"--kube-api-burst=1000",
				"--node-monitor-period=1s",
				`--controllers=${controllers.join(",")}`,
			];
		case "scheduler":
			return [
				kubeconfig,
				`--bind-address=${address}`,
				"--secure-port=10259",
				"--leader-elect=false",
				"--kube-api-qps=500",
				"--kube-api-burst=1000",
			];
		case "kwok":
			return [
				kubeconfig,
				`--config=${join(dir, "kwok.yaml")}`,
				// A PortForward object for each agent pod holds the pod's address.
				"--enable-crds=PortForward",
				"--manage-all-nodes=true",
				`--node-ip=${address}`,
				`--node-port=${kwokPort}`,
				`--server-address=${address}:${kwokPort}`,
				`--tls-cert-file=${pki("kubelet.crt")}`,
				`--tls-private-key-file=${pki("kubelet.key")}`,
				`--cidr=10.${200 + index}.0.0/16`,
				"--node-lease-duration-seconds=40",
			];
		default:
			return component satisfies never;
	}
}
