// Signs a macOS program without a certificate ("ad hoc"), as Apple's linker does. macOS on Apple silicon runs no unsigned program, and
// putting the plugin into Node removes Node's signature. This signature does not prove who made the file: the checksums of a release do.
import { createHash } from "node:crypto";
import { headerSize, parseMachO, signatureCommand } from "./mach-o.ts";

const pageSize = 4096;
const hashSize = 32;
const directoryHeader = 88;
const superBlobHeader = 20;
const magic = { superBlob: 0xfade0cc0, directory: 0xfade0c02 } as const;
/** CS_ADHOC (no certificate) and CS_LINKER_SIGNED (a later signature can replace it). */
const adHocAndLinkerSigned = 0x20002;
const commandSize = 16;
/** Segments are aligned to the pages of Apple silicon, which are larger than those of Intel's processors. */
const segmentAlignment = 0x4000;

/** Returns the file with a signature over all its pages. */
export function signAdHoc(unsigned: Buffer, identifier: string): Buffer {
	const { commands, commandsEnd, commandsLimit, text, linkEdit, signature } = parseMachO(unsigned);
	if (signature !== undefined) throw new Error("It is signed already");
	if (commandsEnd + commandSize > commandsLimit) throw new Error("It has no room for a signature's load command");
	const codeLimit = align(linkEdit.fileOffset + linkEdit.fileSize, 16);
	const identifierBytes = Buffer.from(`${identifier}\0`, "latin1");
	const hashes = Math.ceil(codeLimit / pageSize);
	const directorySize = directoryHeader + identifierBytes.length + hashes * hashSize;
	const size = superBlobHeader + directorySize;

	const signed = Buffer.alloc(codeLimit + size);
	unsigned.copy(signed, 0, 0, linkEdit.fileOffset + linkEdit.fileSize);
	// The signature covers the header, so the header must already describe it.
	signed.writeUInt32LE(commands.length + 1, 16);
	signed.writeUInt32LE(commandsEnd + commandSize - headerSize, 20);
	for (const [index, value] of [signatureCommand, commandSize, codeLimit, size].entries()) {
		signed.writeUInt32LE(value, commandsEnd + index * 4);
	}
	const linkEditSize = codeLimit + size - linkEdit.fileOffset;
	signed.writeBigUInt64LE(BigInt(align(linkEditSize, segmentAlignment)), linkEdit.offset + 32);
	signed.writeBigUInt64LE(BigInt(linkEditSize), linkEdit.offset + 48);

	const blob = signed.subarray(codeLimit);
	writeWords(blob, [magic.superBlob, size, 1, 0, superBlobHeader]);
	const directory = blob.subarray(superBlobHeader);
	writeWords(directory, [
		magic.directory,
		directorySize,
		0x20400,
		adHocAndLinkerSigned,
		directoryHeader + identifierBytes.length,
		directoryHeader,
		0,
		hashes,
		codeLimit,
	]);
	// SHA-256, pages of 2^12 bytes.
	directory.set([hashSize, 2, 0, 12], 36);
	directory.writeBigUInt64BE(BigInt(text.fileOffset), 64);
	directory.writeBigUInt64BE(BigInt(text.fileSize), 72);
	// CS_EXECSEG_MAIN_BINARY: a program, not a library.
	directory.writeBigUInt64BE(1n, 80);
	directory.set(identifierBytes, directoryHeader);
	for (const [index, hash] of pageHashes(signed, codeLimit).entries()) {
		directory.set(hash, directoryHeader + identifierBytes.length + index * hashSize);
	}
	return signed;
}

/**
 * Returns the indexes of the pages whose hash differs from the signed one, which macOS would reject. Throws if the signature has another
 * form.
 */
export function changedPages(signed: Buffer): readonly number[] {
	const { signature, linkEdit } = parseMachO(signed);
	if (signature === undefined) throw new Error("It is not signed");
	const [offset, size] = [signed.readUInt32LE(signature.offset + 8), signed.readUInt32LE(signature.offset + 12)];
	if (offset + size !== signed.length || linkEdit.fileOffset + linkEdit.fileSize !== signed.length) {
		throw new Error("Its signature does not end with the file");
	}
	const blob = signed.subarray(offset);
	const directory = blob.subarray(blob.readUInt32BE(16));
	if (blob.readUInt32BE(0) !== magic.superBlob || directory.readUInt32BE(0) !== magic.directory) {
		throw new Error("Its signature has no code directory");
	}
	const [hashOffset, hashes, codeLimit] = [16, 28, 32].map((at) => directory.readUInt32BE(at)) as [
		number,
		number,
		number,
	];
	if (codeLimit !== offset || hashes !== Math.ceil(codeLimit / pageSize))
		throw new Error("Its signature ends too early");
	return pageHashes(signed, codeLimit).flatMap((hash, index) => {
		const at = hashOffset + index * hashSize;
		return hash.equals(directory.subarray(at, at + hashSize)) ? [] : [index];
	});
}

function pageHashes(file: Buffer, codeLimit: number): readonly Buffer[] {
	return Array.from({ length: Math.ceil(codeLimit / pageSize) }, (_, index) => {
		const page = file.subarray(index * pageSize, Math.min((index + 1) * pageSize, codeLimit));
		return createHash("sha256").update(page).digest();
	});
}

function writeWords(target: Buffer, words: readonly number[]): void {
	for (const [index, word] of words.entries()) target.writeUInt32BE(word, index * 4);
}

function align(value: number, to: number): number {
	return Math.ceil(value / to) * to;
}
