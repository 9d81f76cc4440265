// Builds the image for one processor from the folders of its layers. The same files make the same bytes.
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { tarOf } from "../package/archive.ts";
import { type Blob, blobOf, digestOf, jsonBlob, mediaTypes } from "./oci-layout.ts";
import type { Platform } from "./platforms.ts";
import { program, type StagedLayer, user } from "./stage-layers.ts";

/** Our own limit, because each node that runs an agent pulls the image. */
const maxBytes = 60_000_000;

export interface Image {
	readonly manifest: Blob;
	readonly config: Blob;
	readonly layers: readonly Blob[];
}

export interface ImageOptions {
	readonly platform: Platform;
	readonly layers: readonly StagedLayer[];
	readonly labels: Readonly<Record<string, string>>;
	/** As in RFC 3339. */
	readonly created: string;
}

export async function buildImage({ platform, layers, labels, created }: ImageOptions): Promise<Image> {
	const packed = await Promise.all(layers.map(packLayer));
	const { architecture } = platform;
	const config = jsonBlob(mediaTypes.config, {
		created,
		architecture,
		os: "linux",
		config: {
			User: `${user}:${user}`,
			ExposedPorts: { "8080/tcp": {}, "8443/tcp": {}, "8444/tcp": {} },
			Env: ["PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
			Entrypoint: program,
			WorkingDir: "/",
			Labels: labels,
		},
		rootfs: { type: "layers", diff_ids: packed.map(({ diffId }) => diffId) },
		history: layers.map(({ createdBy }) => ({ created, created_by: createdBy })),
	});
	const blobs = packed.map(({ blob }) => blob);
	const bytes = blobs.reduce((sum, { descriptor }) => sum + descriptor.size, 0);
	if (bytes > maxBytes) throw new Error(`The image for ${architecture} has ${bytes} bytes, more than ${maxBytes}`);
	const manifest = jsonBlob(mediaTypes.manifest, {
		schemaVersion: 2,
		mediaType: mediaTypes.manifest,
		config: config.descriptor,
		layers: blobs.map(({ descriptor }) => descriptor),
		annotations: labels,
	});
	return { manifest, config, layers: blobs };
}

/** All files are dated 1970, so an unchanged layer has the same digest in every version and is pulled once. */
async function packLayer({ folder }: StagedLayer): Promise<{ readonly blob: Blob; readonly diffId: string }> {
	const tar = tarOf({ folder, files: readdirSync(folder).toSorted(), modified: 0 });
	const blob = blobOf(mediaTypes.layer, await promisify(gzip)(tar, { level: 9 }));
	return { blob, diffId: digestOf(tar) };
}
