// Situations about the outcome of evictions: budgets, webhooks, policies, ending namespaces, and pods that hang or vanish.
import { collectorsStayAway } from "./filter-situations.ts";
import { admissionPolicy, budget, evictionWebhook, hang, type Place, pod, statefulSet } from "./objects.ts";
import { drain, type Situation } from "./situation.ts";

const retries = "will retry after 5s";
/** Long enough for several attempts, and not a moment at which either program retries. */
const late = "--timeout=13s";
const blocked = (place: Place) => [statefulSet(place, "web", 1), budget(place, "web", { minAvailable: 1 })];
const twice = (place: Place) => [...blocked(place), budget(place, "web", { maxUnavailable: 1 }, "second")];
const policyOnEvictions = (rest: { readonly message: string; readonly warns?: boolean }) => (place: Place) => [
	statefulSet(place, "web", 2),
	...admissionPolicy(place, {
		resource: "pods/eviction",
		operation: "CREATE",
		expression: 'object.metadata.name != "web-0"',
		...rest,
	}),
];
/** `path` is /CODE/TIMES, optionally followed by /SECONDS for Retry-After. */
const webhook = (name: string, path: string, flags: readonly string[] = []): Situation =>
	drain(name, flags, {
		objects: (place, { cluster, webhook: { address, caBundle } }) => [
			statefulSet(place, "web", 1),
			evictionWebhook(place, `${address}/${cluster}-${place.namespace}${path}`, caBundle),
		],
		prepare: async (scene) => scene.refusesEviction("web-0"),
	});

export const evictionSituations: readonly Situation[] = [
	drain("a budget that allows it", [], {
		objects: (place) => [statefulSet(place, "web", 2), budget(place, "web", { minAvailable: 0 })],
	}),
	drain("a budget that blocks, and is gone after a while", [], {
		triesVary: true,
		objects: blocked,
		during: async (scene, command) => {
			await command.printed(retries);
			await scene.client.send("DELETE", `/apis/policy/v1/namespaces/${scene.namespace}/poddisruptionbudgets/web`);
		},
	}),
	drain("a budget that blocks until --timeout", [late], {
		triesVary: true,
		objects: blocked,
	}),
	drain("two budgets on one pod: the others are evicted", [], {
		objects: (place) => [...twice(place), statefulSet(place, "free", 1)],
	}),
	{
		name: "--timeout holds for each node",
		triesVary: true,
		nodes: { a: {}, b: {}, c: {} },
		objects: (place) => [
			...blocked(place),
			statefulSet(place, "other", 1, { node: "b" }),
			budget(place, "other", { maxUnavailable: 0 }),
		],
		commands: (place) => [["drain", place.node("a"), place.node("b"), place.node("c"), late]],
	},
	{
		name: "a node that fails does not stop the next",
		nodes: { a: {}, b: {}, c: {} },
		objects: (place) => [
			pod(place, "bare"),
			pod(place, "scratch", { node: "b", emptyDir: true }),
			statefulSet(place, "free", 1, { node: "c" }),
		],
		commands: (place) => [["drain", place.node("a"), place.node("b"), place.node("c")]],
	},
	drain("a pod that does not end until --timeout", ["--timeout=20s", "--grace-period=1"], {
		objects: (place) => [statefulSet(place, "web", 1, hang)],
	}),
	drain("a pod that takes a quarter of a minute to end", [], {
		takesLong: true,
		objects: (place) => [statefulSet(place, "web", 1, { annotations: { "bench/stop-after": "16s" } })],
	}),
	drain("--grace-period=0", ["--grace-period=0"], { objects: (place) => [statefulSet(place, "web", 1, hang)] }),
	drain("--grace-period=1", ["--grace-period", "1"], {
		objects: (place) => [statefulSet(place, "web", 1, { annotations: { "bench/stop": "deadline" } })],
	}),
	drain("--grace-period=-1: the pod's own", ["--grace-period=-1"], {
		objects: (place) => [statefulSet(place, "web", 1, { annotations: { "bench/stop": "deadline" }, graceSeconds: 1 })],
	}),
	drain(
		"--skip-wait-for-delete-timeout leaves out what is terminating for longer",
		["--skip-wait-for-delete-timeout=1"],
		{
			objects: (place) => [statefulSet(place, "web", 1), pod(place, "bare", { ...hang, graceSeconds: 1 })],
			prepare: async (scene) => {
				await scene.remove("bare");
				await scene.isTerminatingFor("bare", 2_500);
			},
		},
	),
	drain(
		"--skip-wait-for-delete-timeout ends the wait",
		["--skip-wait-for-delete-timeout=1", "--grace-period=1", "--timeout=20s"],
		{ objects: (place) => [statefulSet(place, "web", 1, hang)] },
	),
	drain("--disable-eviction asks no budget", ["--disable-eviction"], { objects: twice }),
	// Long enough for the pod without `hang` to end.
	drain("--disable-eviction until --timeout", ["--disable-eviction", "--timeout=20s"], {
		objects: (place) => [statefulSet(place, "web", 1, hang), statefulSet(place, "free", 1)],
	}),
	drain("--disable-eviction where deleting is refused", ["--disable-eviction"], {
		objects: (place) => [
			statefulSet(place, "web", 2),
			...admissionPolicy(place, {
				resource: "pods",
				operation: "DELETE",
				expression: "false",
				message: "nobody deletes here",
			}),
		],
		prepare: async (scene) => scene.refusesDeletion("web-0"),
	}),
	drain("a pod that somebody deletes while it waits", ["--force"], {
		triesVary: true,
		objects: (place) => [pod(place, "bare", { labels: { app: "bare" } }), budget(place, "bare", { minAvailable: 1 })],
		during: async (scene, command) => {
			await command.printed(retries);
			await scene.remove("bare");
		},
	}),
	drain("a pod that is replaced under its name while it waits", [], {
		triesVary: true,
		objects: blocked,
		during: async (scene, command) => {
			await command.printed(retries);
			await scene.remove("web-0");
		},
	}),
	drain("a policy refuses the eviction", [], {
		objects: policyOnEvictions({ message: "web-0 stays" }),
		prepare: async (scene) => scene.refusesEviction("web-0"),
	}),
	drain("a policy warns of the eviction", [], {
		objects: policyOnEvictions({ message: "think twice", warns: true }),
		prepare: async (scene) => scene.refusesEviction("web-0"),
	}),
	webhook("a webhook refuses the eviction", "/403/99"),
	webhook("a webhook refuses the eviction without a code", "/0/99"),
	webhook("a webhook says 429 once", "/429/1"),
	webhook("a webhook says 429 once, with a Retry-After", "/429/1/1"),
	drain("a webhook that cannot be reached", [late], {
		triesVary: true,
		objects: (place, { webhook: { caBundle } }) => [
			statefulSet(place, "web", 1),
			evictionWebhook(place, "https://127.0.0.1:1/", caBundle),
		],
		prepare: async (scene) => scene.refusesEviction("web-0"),
	}),
	drain("pods that terminate with their namespace", ["--force"], {
		objects: (place) => [pod(place, "bare", hang)],
		prepare: async (scene) => {
			await scene.client.send("DELETE", `/api/v1/namespaces/${scene.namespace}`);
			await scene.isTerminatingFor("bare", -60_000);
		},
		during: async (scene) => {
			await scene.evictionAnswered("bare");
			await scene.letEnd("bare");
		},
	}),
	drain("a pod that lives on in a namespace that terminates", ["--force"], {
		triesVary: true,
		objects: (place) => [...collectorsStayAway(place), pod(place, "bare", hang)],
		prepare: async (scene) => {
			await scene.refusesDeletion("bare");
			await scene.client.send("DELETE", `/api/v1/namespaces/${scene.namespace}`);
			await scene.refusesEviction("bare");
		},
		during: async (scene, command) => {
			await command.printed(retries);
			await scene.remove("bare");
			await scene.evictionAnswered("bare");
			await scene.letEnd("bare");
		},
	}),
	drain("Ctrl-C while a budget blocks", [], {
		objects: blocked,
		during: async (_, command) => {
			await command.printed(retries);
			command.kill("SIGINT");
		},
	}),
	drain("a reader that has closed the output", [], {
		objects: blocked,
		during: async (_, command) => command.stopReading(),
	}),
	drain("a server's dry run", ["--dry-run=server"], { objects: (place) => [statefulSet(place, "web", 2)] }),
	drain("a server's dry run that a budget blocks", ["--dry-run=server", late], { triesVary: true, objects: blocked }),
	drain("a server's dry run with --disable-eviction", ["--dry-run=server", "--disable-eviction", late], {
		objects: (place) => [statefulSet(place, "web", 1)],
	}),
	drain("a client's dry run", ["--dry-run=client", "--force"], {
		objects: (place) => [...blocked(place), pod(place, "bare")],
	}),
	drain("a client's dry run that a filter refuses", ["--dry-run=client"], { objects: (place) => [pod(place, "bare")] }),
	drain("a client's dry run with --disable-eviction", ["--dry-run=client", "--disable-eviction"], { objects: blocked }),
	drain("--dry-run by itself", ["--dry-run"], { objects: (place) => [statefulSet(place, "web", 1)] }),
	drain("--dry-run=true", ["--dry-run=true"], { objects: (place) => [statefulSet(place, "web", 1)] }),
	drain("--dry-run=false", ["--dry-run=false"], { objects: (place) => [statefulSet(place, "web", 1)] }),
];
