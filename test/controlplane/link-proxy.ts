// One directed link of a fleet, as a TCP proxy on loopback whose condition tests change. Data that cannot pass is kept and passes later, so
// a connection loses nothing unless it is reset.
import type { Socket } from "node:net";
import { connect, createServer } from "node:net";
import { type Endpoint, listen } from "../../demo/machine/endpoint.ts";

/** "there" is the direction from the caller to the called side. */
export type LinkWay = "there" | "back";

export type LinkCondition = {
	/** Half of a round trip: delays everything by this, in both directions. A new connection costs one more round trip. */
	readonly delayMs?: number;
	/** Nothing passes in these directions, not even the end of a connection. */
	readonly blackHole?: LinkWay | "both";
	/** The highest rate in each direction of each connection. */
	readonly bytesPerSecond?: number;
	/** Whether open and new connections are reset. */
	readonly cut?: boolean;
	/** Where new connections go instead of the link's far end. */
	readonly via?: Endpoint;
};

export type LinkProxy = {
	/** The address to which callers connect. */
	readonly near: Endpoint;
	readonly condition: LinkCondition;
	/** Replaces the previous condition. {} removes all faults. */
	set(condition: LinkCondition): void;
	reset(): void;
	close(): Promise<void>;
};

/** Bytes, the end of one direction, or the end of the connection. */
type Parcel = { readonly dueAt: number; readonly content: Buffer | "end" | "closed" | "reset" };

// While more bytes than this are pending, the sender waits, as with TCP's window.
const windowBytes = 4 * 1024 * 1024;
const dripPeriodMs = 50;

export async function startLinkProxy(options: { readonly near: Endpoint; readonly far: Endpoint }): Promise<LinkProxy> {
	let condition: LinkCondition = {};
	const open = new Set<{ wake(): void; reset(): void }>();
	const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
		if (condition.cut === true) {
			near.on("error", () => undefined);
			near.resetAndDestroy();
			return;
		}
		const far = connect({ ...(condition.via ?? options.far), allowHalfOpen: true, noDelay: true });
		// A TCP handshake takes one round trip.
		const handshakeMs = 2 * (condition.delayMs ?? 0);
		const wake = [
			carry({ from: near, to: far, way: "there", condition: () => condition, handshakeMs }),
			carry({ from: far, to: near, way: "back", condition: () => condition, handshakeMs: 0 }),
		];
		const connection = {
			wake: () => wake.forEach((each) => each()),
			reset() {
				near.resetAndDestroy();
				far.resetAndDestroy();
			},
		};
		open.add(connection);
		const forget = () => {
			if (near.destroyed && far.destroyed) open.delete(connection);
		};
		near.once("close", forget);
		far.once("close", forget);
	});
	const reset = () => [...open].forEach((connection) => connection.reset());
	await listen(server, options.near);
	server.unref();
	return {
		near: options.near,
		get condition() {
			return condition;
		},
		set(next) {
			condition = next;
			if (next.cut === true) reset();
			for (const connection of open) connection.wake();
		},
		reset,
		close() {
			reset();
			return new Promise((resolve) => {
				server.close(() => resolve());
			});
		},
	};
}

/** Carries the data of one direction. Returns a function that checks the condition again. */
function carry(options: {
	readonly from: Socket;
	readonly to: Socket;
	readonly way: LinkWay;
	readonly condition: () => LinkCondition;
	readonly handshakeMs: number;
}): () => void {
	const { from, to, way, condition } = options;
	const openAt = performance.now() + options.handshakeMs;
	const parcels: Parcel[] = [];
	let bytes = 0;
	let failed = false;
	let nextDripAt = 0;
	let timer: NodeJS.Timeout | undefined;

	const take = (content: Parcel["content"]) => {
		parcels.push({ dueAt: Math.max(openAt, performance.now()) + (condition().delayMs ?? 0), content });
		deliver();
	};
	from.on("data", (chunk: Buffer) => {
		bytes += chunk.length;
		if (bytes > windowBytes) from.pause();
		take(chunk);
	});
	from.on("end", () => take("end"));
	from.on("error", () => (failed = true));
	from.on("close", () => take(failed ? "reset" : "closed"));
	to.on("drain", () => deliver());
	to.on("close", () => clearTimeout(timer));

	function deliver(): void {
		clearTimeout(timer);
		const { blackHole, bytesPerSecond } = condition();
		if (blackHole === way || blackHole === "both") return;
		for (let parcel = parcels[0]; parcel !== undefined && !to.destroyed; parcel = parcels[0]) {
			const wait = Math.max(parcel.dueAt, bytesPerSecond === undefined ? 0 : nextDripAt) - performance.now();
			if (wait > 0) {
				// Timers can fire up to a millisecond early.
				timer = setTimeout(deliver, Math.ceil(wait));
				return;
			}
			if (to.writableNeedDrain) return;
			parcels.shift();
			if (typeof parcel.content === "string") {
				finish(to, parcel.content);
				continue;
			}
			const piece = bytesPerSecond === undefined ? Infinity : Math.ceil((bytesPerSecond * dripPeriodMs) / 1000);
			const rest = parcel.content.subarray(piece);
			if (rest.length > 0) parcels.unshift({ dueAt: parcel.dueAt, content: rest });
			nextDripAt = performance.now() + dripPeriodMs;
			const part = parcel.content.subarray(0, piece);
			bytes -= part.length;
			to.write(part);
			if (bytes <= windowBytes && from.isPaused()) from.resume();
		}
	}

	return deliver;
}

function finish(to: Socket, content: "end" | "closed" | "reset"): void {
	if (content === "end") to.end();
	else if (content === "closed") to.destroySoon();
	else to.resetAndDestroy();
}
