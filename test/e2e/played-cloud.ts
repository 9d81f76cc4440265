// Plays a cloud's controller of load balancers, as a test tells it to: sets a Service's address, keeps the Service by a finalizer until its
// load balancer is gone, and reports problems in Events.
import type { BareClusters } from "./bare-clusters.ts";
import { eventually } from "./kubectl.ts";

export interface CloudService {
	readonly cluster: string;
	readonly namespace: string;
	readonly name: string;
}

const finalizer = "service.kubernetes.io/load-balancer-cleanup";

export function sayTrouble(
	{ kubectl }: BareClusters,
	{ cluster, namespace, name }: CloudService,
	message: string,
): void {
	const now = new Date().toISOString();
	const event = {
		apiVersion: "v1",
		kind: "Event",
		metadata: { name: `${name}.trouble`, namespace },
		involvedObject: { apiVersion: "v1", kind: "Service", name, namespace },
		type: "Warning",
		reason: "SyncLoadBalancerFailed",
		message,
		firstTimestamp: now,
		lastTimestamp: now,
	};
	kubectl(cluster, ["create", "-f", "-"], JSON.stringify(event));
}

export function giveAddress(
	{ kubectl }: BareClusters,
	{ cluster, namespace, name }: CloudService,
	ingress: { readonly hostname: string } | { readonly ip: string },
): void {
	const patch = (change: object, ...flags: readonly string[]): void => {
		kubectl(cluster, [
			"patch",
			"service",
			name,
			"-n",
			namespace,
			"--type=merge",
			"-p",
			JSON.stringify(change),
			...flags,
		]);
	};
	patch({ metadata: { finalizers: [finalizer] } });
	patch({ status: { loadBalancer: { ingress: [ingress] } } }, "--subresource=status");
}

/** Waits until the Service is being deleted, then removes its finalizer. */
export async function takeBalancerAway(
	{ kubectl }: BareClusters,
	{ cluster, namespace, name }: CloudService,
): Promise<void> {
	const service = ["service", name, "-n", namespace];
	await eventually(`the end of ${name} in ${cluster}`, async () => {
		return kubectl(cluster, ["get", ...service, "-o", "jsonpath={.metadata.deletionTimestamp}"]) !== "";
	});
	kubectl(cluster, ["patch", ...service, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
}
