// One tar file that docker, podman, containerd and kind load: an OCI image layout, with docker's own table of contents beside it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tarOf } from "../package/archive.ts";
import type { Image } from "./build-image.ts";
import { blobPath, writeLayout } from "./oci-layout.ts";
import type { Platform } from "./platforms.ts";

export interface ImageArchiveOptions {
	readonly image: Image;
	readonly platform: Platform;
	/** "registry.example.com/xpdb-agent:0.2.0". */
	readonly reference: string;
	readonly modified: number;
	/** For what is needed on the way. */
	readonly work: string;
	readonly output: string;
}

export function writeImageArchive(options: ImageArchiveOptions): void {
	const { image, platform, reference, modified, work, output } = options;
	const folder = mkdtempSync(join(work, "archive-"));
	const annotations = {
		// containerd's, which kind goes by, and the name that the layout itself gives.
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

/** As docker and Kubernetes complete a name that has no registry. */
export function fullReference(reference: string): string {
	const [first = "", ...rest] = reference.split("/");
	if (rest.length === 0) return `docker.io/library/${reference}`;
	return /[.:]|^localhost$/.test(first) ? reference : `docker.io/${reference}`;
}
