// Makes an expired login: a ServiceAccount token signed with the cluster's own key.
import { createSign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { kubectl } from "./kubectl.ts";

/** Returns a copy of the fleet's kubeconfig with one more context, "<cluster>-expired". Disposal deletes it. */
export async function kubeconfigWithExpiredToken(
	cluster: string,
): Promise<AsyncDisposable & { readonly path: string }> {
	const fleet = sharedFleet();
	const folder = mkdtempSync(join(tmpdir(), "xpdb-expired-"));
	const path = join(folder, "kubeconfig");
	writeFileSync(path, readFileSync(fleet.kubeconfigPath));
	const user = `${cluster}-expired`;
	const dir = fleet.clusters.find(({ name }) => name === cluster)?.dir ?? "";
	const token = expiredToken(readFileSync(join(dir, "pki", "sa.key"), "utf8"));
	await kubectl(cluster, ["--kubeconfig", path, "config", "set-credentials", user, `--token=${token}`]);
	await kubectl(cluster, [
		"--kubeconfig",
		path,
		"config",
		"set-context",
		user,
		`--cluster=${cluster}`,
		`--user=${user}`,
	]);
	return { path, [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) };
}

function expiredToken(privateKey: string): string {
	const issuer = "https://kubernetes.default.svc.cluster.local";
	const now = Math.floor(Date.now() / 1000);
	const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
	const claims = {
		iss: issuer,
		aud: [issuer],
		sub: "system:serviceaccount:default:default",
		iat: now - 7200,
		exp: now - 3600,
	};
	const content = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}`;
	return `${content}.${createSign("RSA-SHA256").update(content).sign(privateKey, "base64url")}`;
}
