// Situations about kubectl's filters: which pods a drain evicts, leaves or refuses.
import { admissionPolicy, daemonSet, deployment, hang, type Place, pod, statefulSet } from "./objects.ts";
import type { Scene } from "./scene.ts";
import { drain, type Situation } from "./situation.ts";

/**
 * Keeps controllers of kube-system, such as the garbage collector and the namespace controller, from deleting pods. Also refuses dry runs,
 * to show that the policy is in force.
 */
export const collectorsStayAway = (place: Place) =>
	admissionPolicy(place, {
		resource: "pods",
		operation: "DELETE",
		expression: '!(request.dryRun || request.userInfo.username.startsWith("system:serviceaccount:kube-system:"))',
		message: "kept",
	});

const orphanOf = (kind: string) => ({ apiVersion: "apps/v1", kind, name: "gone" });

/** Creates the pod only after the policy is in force. Otherwise, the garbage collector would soon delete the pod. */
async function createOrphan(scene: Scene, kind: string): Promise<void> {
	const owned = pod(scene, "orphan", { controller: orphanOf(kind) });
	await scene.refusesDeletion("witness");
	await scene.create(owned);
	await scene.runs("orphan");
}

const orphan = (kind: string, name: string, flags: readonly string[]): Situation =>
	drain(name, flags, {
		objects: (place) => [
			...collectorsStayAway(place),
			pod(place, "witness", { controller: { apiVersion: "example.com/v1", kind: "Rock", name: "rock" } }),
		],
		prepare: (scene) => createOrphan(scene, kind),
	});

async function finish(scene: Scene, name: string, phase: "Succeeded" | "Failed"): Promise<void> {
	await scene.client.send(
		"PATCH",
		`${scene.pod(name)}/status`,
		{ status: { phase } },
		"application/strategic-merge-patch+json",
	);
}

const withAll = (place: Place) => [
	daemonSet(place, "daemon"),
	statefulSet(place, "web", 1),
	statefulSet(place, "cache", 1, { emptyDir: true }),
	pod(place, "bare"),
	pod(place, "bare-scratch", { emptyDir: true }),
];

export const filterSituations: readonly Situation[] = [
	drain("an empty node", []),
	drain("pods of a StatefulSet", [], { objects: (place) => [statefulSet(place, "web", 3)] }),
	drain("pods of a Deployment", [], { objects: (place) => [deployment(place, "deployed", 2)] }),
	drain("a DaemonSet's pod without --ignore-daemonsets", [], {
		objects: (place) => [daemonSet(place, "daemon"), statefulSet(place, "web", 1)],
	}),
	drain("a DaemonSet's pod with --ignore-daemonsets", ["--ignore-daemonsets"], {
		objects: (place) => [daemonSet(place, "daemon"), statefulSet(place, "web", 1)],
	}),
	drain("nothing but a DaemonSet's pod", ["--ignore-daemonsets=true"], {
		objects: (place) => [daemonSet(place, "daemon")],
	}),
	drain("all filters refuse", [], { objects: withAll }),
	drain("all filters warn", ["--ignore-daemonsets", "--force", "--delete-emptydir-data"], { objects: withAll }),
	drain("one flag of three", ["--force"], { objects: withAll }),
	drain("a local volume without --delete-emptydir-data", [], {
		objects: (place) => [statefulSet(place, "cache", 1, { emptyDir: true })],
	}),
	drain("a local volume with --delete-emptydir-data: the warning is lost", ["--delete-emptydir-data"], {
		objects: (place) => [statefulSet(place, "cache", 1, { emptyDir: true })],
	}),
	drain("an unmanaged pod without --force", [], { objects: (place) => [pod(place, "bare")] }),
	drain("an unmanaged pod with --force", ["--force"], { objects: (place) => [pod(place, "bare"), pod(place, "bear")] }),
	drain("a pod of another group's DaemonSet", [], {
		objects: (place) => [
			pod(place, "kruise", { controller: { apiVersion: "apps.kruise.io/v1", kind: "DaemonSet", name: "daemon" } }),
		],
	}),
	drain("a mirror pod stays", [], {
		objects: (place) => [
			pod(place, "static", { annotations: { "kubernetes.io/config.mirror": "checksum" } }),
			statefulSet(place, "web", 1),
		],
	}),
	drain("finished pods need no flag", [], {
		objects: (place) => [pod(place, "done", { emptyDir: true }), pod(place, "broken")],
		prepare: async (scene) => {
			await finish(scene, "done", "Succeeded");
			await finish(scene, "broken", "Failed");
		},
	}),
	drain("a pod that is terminating already", ["--force"], {
		objects: (place) => [pod(place, "bare", hang)],
		prepare: async (scene) => scene.remove("bare"),
		during: async (scene) => {
			await scene.evictionAnswered("bare");
			await scene.letEnd("bare");
		},
	}),
	orphan("DaemonSet", "a pod whose DaemonSet is gone, without --force", ["--ignore-daemonsets"]),
	orphan("DaemonSet", "a pod whose DaemonSet is gone, with --force", ["--force"]),
	orphan("ReplicaSet", "a pod whose ReplicaSet is gone needs no flag", []),
	drain("--pod-selector leaves the others alone", ["--pod-selector", "app=web"], {
		objects: (place) => [statefulSet(place, "web", 1), pod(place, "bare")],
	}),
	drain("--pod-selector that matches nothing", ["--pod-selector=app in (none, at-all)"], {
		objects: (place) => [pod(place, "bare")],
	}),
	drain("--chunk-size=1", ["--chunk-size=1", "--force"], {
		objects: (place) => [pod(place, "bare"), pod(place, "bear"), statefulSet(place, "web", 2)],
	}),
	drain("--chunk-size=-1", ["--chunk-size=-1"], { objects: (place) => [statefulSet(place, "web", 2)] }),
	drain("--chunk-size=0", ["--chunk-size", "0"], { objects: (place) => [statefulSet(place, "web", 2)] }),
];
