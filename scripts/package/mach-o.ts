// Reads the parts of a macOS program that its signature needs: the load commands, and the segment at the end that contains the signature.
export interface LoadCommand {
	readonly kind: number;
	readonly offset: number;
	readonly size: number;
}

export interface MachO {
	readonly commands: readonly LoadCommand[];
	/** Where a further load command would begin. It must not reach beyond `commandsLimit`. */
	readonly commandsEnd: number;
	readonly commandsLimit: number;
	readonly text: Segment;
	readonly linkEdit: Segment;
	readonly signature: LoadCommand | undefined;
}

export interface Segment {
	/** Offset of its load command. */
	readonly offset: number;
	readonly fileOffset: number;
	readonly fileSize: number;
}

export const headerSize = 32;
export const signatureCommand = 0x1d;
const segmentCommand = 0x19;
const littleEndian64 = 0xfeedfacf;
const sectionSize = 80;
const segmentHeaderSize = 72;

/** @throws Error if the file is not a program for a 64-bit processor. */
export function parseMachO(file: Buffer): MachO {
	if (file.length < headerSize || file.readUInt32LE(0) !== littleEndian64)
		throw new Error("It is no 64-bit Mach-O file");
	const commands: LoadCommand[] = [];
	const commandsEnd = headerSize + file.readUInt32LE(20);
	for (let offset = headerSize; offset < commandsEnd; offset += commands.at(-1)?.size ?? 0) {
		const size = file.readUInt32LE(offset + 4);
		if (size < 8) throw new Error(`The load command at ${offset} has no size`);
		commands.push({ kind: file.readUInt32LE(offset), offset, size });
	}
	const segment = (name: string): Segment => {
		const command = commands.find(
			({ kind, offset }) =>
				kind === segmentCommand && file.toString("latin1", offset + 8, offset + 24).replace(/\0+$/, "") === name,
		);
		if (command === undefined) throw new Error(`It has no segment ${name}`);
		const { offset } = command;
		return {
			offset,
			fileOffset: Number(file.readBigUInt64LE(offset + 40)),
			fileSize: Number(file.readBigUInt64LE(offset + 48)),
		};
	};
	const text = segment("__TEXT");
	const sections = Array.from({ length: file.readUInt32LE(text.offset + 64) }, (_, index) =>
		file.readUInt32LE(text.offset + segmentHeaderSize + index * sectionSize + 48),
	);
	return {
		commands,
		commandsEnd,
		commandsLimit: Math.min(...sections),
		text,
		linkEdit: segment("__LINKEDIT"),
		signature: commands.find(({ kind }) => kind === signatureCommand),
	};
}
