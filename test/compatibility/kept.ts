// Reads the recordings of what earlier versions of agents and plugins wrote and read. During an upgrade, agents and plugins of such
// versions share a fleet with today's.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, type FileRegistry, fromBinary, type JsonValue } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { repositoryRoot } from "../../scripts/repository-root.ts";

export interface KeptMessage {
	/** For example "xpdb.v1.AcquireRequest". */
	readonly type: string;
	/** The bytes on the wire, in base64. */
	readonly bytes: string;
	/** The contents as protobuf JSON. */
	readonly json: JsonValue;
	/** Fields without which the message is refused. */
	readonly needed: readonly string[];
}

export interface KeptAnnotations {
	readonly what: string;
	readonly name?: string;
	readonly holder?: string;
	readonly transitions?: number;
	readonly annotations: Readonly<Record<string, string>>;
}

const folder = join(repositoryRoot, "test", "compatibility", "kept");

/** Returns MAJOR.MINOR versions with the oldest first. As text, 0.10 would come before 0.2. */
export function sortedVersions(versions: readonly string[]): readonly string[] {
	return versions.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** MAJOR.MINOR, the oldest first. */
export const keptVersions: readonly string[] = existsSync(folder) ? sortedVersions(readdirSync(folder)) : [];

export function keptFile(version: string, name: string): string {
	return join(folder, version, name);
}

export function keptMessages(version: string): readonly KeptMessage[] {
	return JSON.parse(readFileSync(keptFile(version, "messages.json"), "utf8")) as KeptMessage[];
}

export function keptAnnotations(version: string): readonly KeptAnnotations[] {
	return JSON.parse(readFileSync(keptFile(version, "annotations.json"), "utf8")) as KeptAnnotations[];
}

export function contractOf(file: string): FileRegistry {
	return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file)));
}
