// Makes a host name have an address of each IP version, and observes how it is dialled.
import dns from "node:dns";
import { Socket } from "node:net";
import { onTestFinished, vi } from "vitest";

export const twoAddresses = "both.example";

/** Until the end of the test, the name has these addresses, and `dialled` gets the options of each connection to it. */
export function playTwoAddresses(
	dialled: (options: Readonly<Record<string, unknown>>) => void = () => undefined,
): void {
	const lookup = dns.lookup.bind(dns) as (...args: readonly unknown[]) => void;
	const found = [
		{ address: "127.0.0.1", family: 4 },
		{ address: "::1", family: 6 },
	];
	const answer = (...args: readonly unknown[]): void => {
		const done = args.at(-1) as (error: null, addresses: typeof found) => void;
		if (args[0] === twoAddresses) process.nextTick(() => done(null, found));
		else lookup(...args);
	};
	const lookups = vi.spyOn(dns, "lookup").mockImplementation(answer);
	const connect = Object.getOwnPropertyDescriptor(Socket.prototype, "connect")?.value as (
		this: Socket,
		...args: readonly unknown[]
	) => Socket;
	const connects = vi.spyOn(Socket.prototype, "connect").mockImplementation(function (
		this: Socket,
		...args: unknown[]
	) {
		const [first] = args.flat() as [unknown];
		const options = typeof first === "object" && first !== null ? (first as Readonly<Record<string, unknown>>) : {};
		if (options["host"] === twoAddresses) dialled(options);
		return connect.apply(this, args);
	});
	onTestFinished(() => {
		lookups.mockRestore();
		connects.mockRestore();
	});
}
