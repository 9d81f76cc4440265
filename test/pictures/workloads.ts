// The workload of each cluster: two StatefulSets that take seconds to stop and to start, each with a budget over all clusters.
const annotations = { "bench/stop-after": "2s", "bench/ready-after": "3s" };

function workload(name: string, replicas: number): readonly object[] {
	const labels = { app: name };
	const spread = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" };
	return [
		{
			apiVersion: "apps/v1",
			kind: "StatefulSet",
			metadata: { name, namespace: "payments" },
			spec: {
				replicas,
				serviceName: name,
				podManagementPolicy: "Parallel",
				selector: { matchLabels: labels },
				template: {
					metadata: { labels, annotations },
					spec: {
						terminationGracePeriodSeconds: 30,
						containers: [{ name, image: `example.com/${name}:1` }],
						topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }],
					},
				},
			},
		},
		{
			apiVersion: "x-pdb.form3.tech/v1alpha1",
			kind: "XPodDisruptionBudget",
			metadata: { name, namespace: "payments" },
			spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
		},
	];
}

export const workloads = {
	apiVersion: "v1",
	kind: "List",
	items: [
		{ apiVersion: "v1", kind: "Namespace", metadata: { name: "payments" } },
		...workload("api", 4),
		...workload("ledger", 3),
	],
};
