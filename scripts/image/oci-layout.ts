// Writes an OCI image layout: a folder in which each blob is stored under its SHA-256.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Descriptor {
	readonly mediaType: string;
	readonly digest: string;
	readonly size: number;
	readonly platform?: { readonly os: string; readonly architecture: string };
	readonly annotations?: Readonly<Record<string, string>>;
}

export const mediaTypes = {
	index: "application/vnd.oci.image.index.v1+json",
	manifest: "application/vnd.oci.image.manifest.v1+json",
	config: "application/vnd.oci.image.config.v1+json",
	layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

/** A blob in memory, so that several layouts can contain it. */
export interface Blob {
	readonly bytes: Buffer;
	readonly descriptor: Descriptor;
}

export function digestOf(bytes: Buffer): string {
	return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

export function blobOf(mediaType: string, bytes: Buffer): Blob {
	return { bytes, descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length } };
}

export function jsonBlob(mediaType: string, value: object): Blob {
	return blobOf(mediaType, Buffer.from(JSON.stringify(value)));
}

/** Returns the path of a blob from the root of the layout. */
export function blobPath({ digest }: Descriptor): string {
	return `blobs/${digest.replace(":", "/")}`;
}

export function indexOf(manifests: readonly Descriptor[], annotations?: Readonly<Record<string, string>>): object {
	return { schemaVersion: 2, mediaType: mediaTypes.index, manifests, ...(annotations && { annotations }) };
}

export function writeLayout(folder: string, blobs: readonly Blob[], images: readonly Descriptor[]): void {
	mkdirSync(join(folder, "blobs", "sha256"), { recursive: true });
	for (const { bytes, descriptor } of blobs) writeFileSync(join(folder, blobPath(descriptor)), bytes);
	writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
	writeFileSync(join(folder, "index.json"), JSON.stringify(indexOf(images)));
}
