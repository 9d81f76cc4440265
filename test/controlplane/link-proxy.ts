// One directed link of a fleet as a TCP proxy on loopback, whose condition tests change while connections are open. What cannot
// pass is kept and passes later, as TCP itself would send it again: a stream loses nothing, unless it is reset.
import type { Socket } from "node:net";
import { connect, createServer } from "node:net";
import { type Endpoint, listen } from "../../demo/machine/endpoint.ts";

/** "there": from who connected to who was called. */
export type LinkWay = "there" | "back";

export type LinkCondition = {
	/** Half of a round trip: everything arrives this much later, in both directions; a connection costs a round trip more. */
	readonly delayMs?: number;
	/** Nothing arrives this way, ends of connections neither. */
	readonly blackHole?: LinkWay | "both";
	/** In each direction of each connection. */
	readonly bytesPerSecond?: number;
	/** Open connections are reset, and so is every new one. */
	readonly cut?: boolean;
	/** New connections go here and not to the link's own far end: to a proxy of a test, for instance. */
	readonly via?: Endpoint;
};

export type LinkProxy = {
	/** Where callers connect. */
	readonly near: Endpoint;
	readonly condition: LinkCondition;
	/** In place of the condition before; {} is a link without a fault. */
	set(condition: LinkCondition): void;
	/** Resets the connections that are open now. */
	reset(): void;
	close(): Promise<void>;
};

/** What is on its way: bytes, the end of what was sent, or the end of the connection. */
type Parcel = { readonly dueAt: number; readonly content: Buffer | "end" | "closed" | "reset" };

// More than that and the sender waits, as by TCP's own window.
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
		// The handshake that the real link would have had: SYN there, its answer back.
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

/** Carries one direction; returns a function that looks at the condition anew. */
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
				// Timers are early by up to a millisecond.
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
