import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findGo, goFolder } from "./go-build.ts";

export type KubernetesModule =
	| { readonly kind: "found"; readonly dir: string }
	| { readonly kind: "missing"; readonly reason: string };

/** Finds Go's cached copy of the Kubernetes module, which contains Kubernetes' own tests. */
export function findKubernetesModule(): KubernetesModule {
	const go = findGo();
	if (go.kind === "missing") return go;
	const listed = spawnSync("go", ["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], {
		cwd: join(goFolder, "kubernetes"),
		encoding: "utf8",
		env: { ...process.env, GOFLAGS: "-mod=mod", GOPROXY: "off", GOTOOLCHAIN: "local" },
	});
	const dir = listed.stdout.trim();
	return listed.status === 0 && existsSync(dir)
		? { kind: "found", dir }
		: { kind: "missing", reason: "the module k8s.io/kubernetes is not in Go's module cache" };
}
