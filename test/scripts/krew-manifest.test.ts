// Tests that the manifest keeps krew's rules, which krew's validator and index enforce.
import { expect, test } from "vitest";
import { parse } from "yaml";
import { krewManifest } from "../../scripts/package/krew-manifest.ts";
import { targets } from "../../scripts/package/targets.ts";

interface Manifest {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: { readonly name: string };
	readonly spec: {
		readonly version: string;
		readonly shortDescription: string;
		readonly platforms: readonly Readonly<Record<string, unknown>>[];
	};
}

const sha256 = "1".repeat(64);

test("krewManifest() has a platform for each archive, in krew's own form", () => {
	const archives = targets.map(({ os, arch }) => ({
		os,
		arch,
		program: "kubectl-xpdb",
		uri: `https://x/${os}`,
		sha256,
	}));
	const manifest = parse(krewManifest("1.2.3", archives)) as Manifest;
	expect(manifest.apiVersion).toBe("krew.googlecontainertools.github.com/v1alpha2");
	expect([manifest.kind, manifest.metadata.name, manifest.spec.version]).toEqual(["Plugin", "xpdb", "v1.2.3"]);
	expect(manifest.spec.platforms).toHaveLength(5);
	expect(manifest.spec.platforms[0]).toEqual({
		selector: { matchLabels: { os: "linux", arch: "amd64" } },
		uri: "https://x/linux",
		// A string, even if it consists of digits only.
		sha256,
		bin: "kubectl-xpdb",
	});
	const selectors = manifest.spec.platforms.map(({ selector }) => JSON.stringify(selector));
	expect(new Set(selectors).size).toBe(selectors.length);
});

test("krew/xpdb.yaml says in one line of at most 50 characters what the plugin is for", () => {
	const { shortDescription } = (parse(krewManifest("1.2.3", [])) as Manifest).spec;
	expect(shortDescription).toMatch(/^[A-Z][^\n.]{0,49}$/);
	expect(shortDescription).not.toContain("Kubernetes");
});
