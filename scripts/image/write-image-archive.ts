// Writes a tar file that docker, podman, containerd and kind load: an OCI image layout with docker's manifest.json.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tarOf } from "../package/archive.ts";
import type { Image } from "./build-image.ts";
import { blobPath, writeLayout } from "./oci-layout.ts";
import type { Platform } from "./platforms.ts";

export interface ImageArchiveOptions {
	readonly image: Image;
	readonly platform: Platform;
	/** For example "registry.example.com/xpdb-agent:0.2.0". */
	readonly reference: string;
	readonly modified: number;
	/** A folder for intermediate files. */
	readonly work: string;
	readonly output: string;
}

export function writeImageArchive(options: ImageArchiveOptions): void {
	const { image, platform, reference, modified, work, output } = options;
	const folder = mkdtempSync(join(work, "archive-"));
	const annotations = {
		// The first name is for containerd and kind, and the second for the OCI layout.
		"io.containerd.image.name": fullReference(reference),
		"org.opencontainers.image.ref.name": reference.slice(reference.lastIndexOf(":") + 1),
	};
	const described = {
		...image.manifest.descriptor,
		platform: { os: "linux", architecture: platform.architecture },
		annotations,
	};
	writeLayout(folder, [image.config, ...image.layers, image.manifest], [described]);
	const contents = {
		Config: blobPath(image.config.descriptor),
		RepoTags: [reference],
		Layers: image.layers.map(({ descriptor }) => blobPath(descriptor)),
	};
	writeFileSync(join(folder, "manifest.json"), JSON.stringify([contents]));
	writeFileSync(output, tarOf({ folder, files: ["blobs", "index.json", "manifest.json", "oci-layout"], modified }));
	rmSync(folder, { recursive: true });
}

/** Completes a reference that names no registry, as docker and Kubernetes do. */
export function fullReference(reference: string): string {
	const [first = "", ...rest] = reference.split("/");
	if (rest.length === 0) return `docker.io/library/${reference}`;
	return /[.:]|^localhost$/.test(first) ? reference : `docker.io/${reference}`;
}
