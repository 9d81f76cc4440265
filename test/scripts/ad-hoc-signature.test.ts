import { describe, expect, test } from "vitest";
import { changedPages, signAdHoc } from "../../scripts/package/ad-hoc-signature.ts";

const textSize = 0x4000;
const firstSection = 0x800;

/** Returns a Mach-O program of two segments. `linkEditSize` is the size of the second, in bytes. */
function program(linkEditSize = 5_000, commandsLimit = firstSection): Buffer {
	const file = Buffer.alloc(textSize + linkEditSize, 7);
	file.fill(0, 0, commandsLimit);
	const segment = (at: number, name: string, fileOffset: number, fileSize: number, sections: number): number => {
		const size = 72 + 80 * sections;
		file.writeUInt32LE(0x19, at);
		file.writeUInt32LE(size, at + 4);
		file.write(name, at + 8, "latin1");
		file.writeBigUInt64LE(BigInt(fileOffset), at + 40);
		file.writeBigUInt64LE(BigInt(fileSize), at + 48);
		file.writeUInt32LE(sections, at + 64);
		if (sections > 0) file.writeUInt32LE(commandsLimit, at + 72 + 48);
		return at + size;
	};
	file.writeUInt32LE(0xfeedfacf, 0);
	const end = segment(segment(32, "__TEXT", 0, textSize, 1), "__LINKEDIT", textSize, linkEditSize, 0);
	file.writeUInt32LE(2, 16);
	file.writeUInt32LE(end - 32, 20);
	return file;
}

describe("signAdHoc()", () => {
	test.each([1, 4_096, 5_000, 40_000])("signs every page of a program with %d bytes at its end", (size) => {
		const signed = signAdHoc(program(size), "kubectl-xpdb");
		expect(changedPages(signed)).toEqual([]);
		expect(signed.includes("kubectl-xpdb\0")).toBe(true);
	});

	test("signs what the header says of the signature, too", () => {
		const signed = signAdHoc(program(), "kubectl-xpdb");
		signed.writeUInt32LE(signed.readUInt32LE(24) ^ 1, 24);
		expect(changedPages(signed)).toEqual([0]);
	});

	test("leaves a signature that tells which page was changed", () => {
		const signed = signAdHoc(program(), "kubectl-xpdb");
		signed[0x3000] = 8;
		expect(changedPages(signed)).toEqual([3]);
		expect(() => changedPages(signed.subarray(0, -1))).toThrow("Its signature does not end with the file");
	});

	test("keeps all that was there", () => {
		const unsigned = program();
		const signed = signAdHoc(unsigned, "kubectl-xpdb");
		expect(signed.subarray(firstSection, unsigned.length).equals(unsigned.subarray(firstSection))).toBe(true);
	});

	test.each([
		["is signed already", () => signAdHoc(program(), "x"), "It is signed already"],
		["has no room for it", () => program(5_000, 0x108), "It has no room for a signature's load command"],
		["is of another system", () => Buffer.from("\x7fELF".padEnd(64)), "It is no 64-bit Mach-O file"],
	])("refuses a file that %s", (_, file, problem) => {
		expect(() => signAdHoc(file(), "x")).toThrow(problem);
	});

	test("is missed where there is none", () => {
		expect(() => changedPages(program())).toThrow("It is not signed");
	});
});
