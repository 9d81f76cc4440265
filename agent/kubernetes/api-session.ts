// Keeps one HTTP/2 session to the API server. It pings every 2 s, and ends if a ping has no answer for 5 s, so a frozen server is noticed
// even without requests.
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { dialOptions } from "../../proto/dial-options.ts";
import type { Clock } from "../process/clock.ts";
import type { ApiAccess } from "./api-access.ts";

const pingIntervalMs = 2_000;
const pingDeadlineMs = 5_000;
const connectDeadlineMs = 5_000;

// Large enough that watches and long lists do not wait for the window, small enough that 10,000 pods do not pile up in it.
const streamWindowBytes = 256 * 1024;
const sessionWindowBytes = 1024 * 1024;

export class ApiSession {
	readonly http2: ClientHttp2Session;
	readonly #clock: Clock;
	readonly #pulse = new Set<(at: number) => void>();
	#usable = true;
	#connected = false;
	#failure: Error | undefined;
	#cancelTimers = new Set<() => void>();
	/**
	 * When the sign of life that is still missing was requested, at first with the connection and later with a ping. Undefined if none is
	 * missing.
	 */
	#askedAt: number | undefined;

	constructor(options: { readonly access: ApiAccess; readonly clock: Clock }) {
		const { access, clock } = options;
		this.#clock = clock;
		this.http2 = connect(new URL(access.server).origin, {
			...access.tls(),
			...dialOptions,
			rejectUnauthorized: true,
			minVersion: "TLSv1.2",
			settings: { enablePush: false, initialWindowSize: streamWindowBytes },
		});
		// Each stream adds listeners, and there may be many streams.
		this.http2.setMaxListeners(0);
		this.#askedAt = clock.now();
		const cancelDeadline = this.#timer(connectDeadlineMs, () => {
			this.end(new Error(`no connection to ${access.server} within ${connectDeadlineMs / 1000} s`));
		});
		this.http2.on("connect", () => {
			cancelDeadline();
			// The session was given up at the same moment.
			if (this.http2.destroyed) return;
			this.#connected = true;
			this.http2.setLocalWindowSize(sessionWindowBytes);
			this.#ping();
		});
		this.http2.on("error", (error) => this.#fail(error));
		this.http2.on("goaway", (code) => {
			this.#usable = false;
			if (code !== constants.NGHTTP2_NO_ERROR) this.#fail(new Error(`the API server sent GOAWAY with code ${code}`));
		});
		this.http2.on("close", () => {
			this.#usable = false;
			for (const cancel of this.#cancelTimers) cancel();
		});
	}

	/** Whether new requests may be sent on this session. */
	get usable(): boolean {
		return this.#usable && !this.http2.closed && !this.http2.destroyed;
	}

	get connected(): boolean {
		return this.#connected;
	}

	/** How long the server has owed a sign of life; 0 if it owes none. */
	get silentMs(): number {
		return this.#askedAt === undefined ? 0 : this.#clock.now() - this.#askedAt;
	}

	get failure(): Error | undefined {
		return this.#failure;
	}

	/**
	 * Calls back for every answered ping with the time at which it was sent: everything that the server wrote before that time has arrived.
	 */
	onPulse(listener: (sentAt: number) => void): () => void {
		this.#pulse.add(listener);
		return () => void this.#pulse.delete(listener);
	}

	/** Ends the session immediately, with everything on it. */
	end(reason: Error): void {
		this.#fail(reason);
		this.http2.destroy(reason);
	}

	#fail(error: Error): void {
		this.#usable = false;
		this.#failure ??= error;
	}

	#ping(): void {
		if (this.http2.destroyed) return;
		const sentAt = this.#clock.now();
		this.#askedAt ??= sentAt;
		const cancelDeadline = this.#timer(pingDeadlineMs, () => {
			this.end(new Error(`no answer to a ping within ${pingDeadlineMs / 1000} s`));
		});
		this.http2.ping((error) => {
			cancelDeadline();
			if (error) return;
			this.#askedAt = undefined;
			for (const listener of this.#pulse) listener(sentAt);
		});
		this.#timer(pingIntervalMs, () => this.#ping());
	}

	#timer(ms: number, callback: () => void): () => void {
		const stop = this.#clock.after(ms, () => {
			this.#cancelTimers.delete(cancel);
			callback();
		});
		const cancel = () => {
			this.#cancelTimers.delete(cancel);
			stop();
		};
		this.#cancelTimers.add(cancel);
		return cancel;
	}
}
