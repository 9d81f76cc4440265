// Loaded with `node --import`: makes the wall clock of the process wrong and leaves its monotonic clock right (see clock-fault.ts).
const startedAt = performance.now();
const offsetMs = Number(process.env["XPDB_CLOCK_OFFSET_MS"] ?? 0);
const rate = Number(process.env["XPDB_CLOCK_RATE"] ?? 1);
const jumpEveryMs = Number(process.env["XPDB_CLOCK_JUMP_EVERY_MS"] ?? 0);

const RightDate = Date;

function wrongNow(): number {
	const elapsed = performance.now() - startedAt;
	const jumped = jumpEveryMs > 0 && Math.floor(elapsed / jumpEveryMs) % 2 === 1;
	return Math.round(RightDate.now() + (rate - 1) * elapsed + (jumped ? -offsetMs : offsetMs));
}

globalThis.Date = new Proxy(RightDate, {
	construct: (target, args: unknown[], newTarget) =>
		Reflect.construct(target, args.length === 0 ? [wrongNow()] : args, newTarget) as Date,
	apply: () => new RightDate(wrongNow()).toString(),
	get: (target, property, receiver): unknown =>
		property === "now" ? wrongNow : Reflect.get(target, property, receiver),
});
