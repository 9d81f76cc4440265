import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { Connections } from "../../../agent/process/connections.ts";

class FakeConnection extends EventEmitter {
	readonly remoteAddress: string;
	readonly remotePort: number;
	destroyed = false;
	constructor(remoteAddress: string, remotePort: number) {
		super();
		this.remoteAddress = remoteAddress;
		this.remotePort = remotePort;
	}
	get peer(): string {
		return `${this.remoteAddress}:${this.remotePort}`;
	}
	destroy(): void {
		this.destroyed = true;
		this.emit("close");
	}
}

function setting() {
	const timers: { readonly ms: number; readonly action: () => void; isOver: boolean }[] = [];
	const connections = new Connections({
		after: (ms, action) => {
			const timer = { ms, action, isOver: false };
			timers.push(timer);
			return () => {
				timer.isOver = true;
			};
		},
	});
	let port = 0;
	const open = (address = "127.0.0.1") => {
		const connection = new FakeConnection(address, ++port);
		return { connection, accepted: connections.accept(connection) };
	};
	const pass = (ms: number): void => {
		for (const timer of timers.filter((each) => each.ms <= ms && !each.isOver)) {
			timer.isOver = true;
			timer.action();
		}
	};
	return { connections, open, pass };
}

describe("Connections", () => {
	test("close the oldest that nobody was let in over, for a newer one", () => {
		const { connections, open } = setting();
		const known = open().connection;
		connections.admitted(known.peer, "alice");
		const flood = Array.from({ length: 1_000 }, () => open().connection);
		expect(connections.size).toBe(256);
		expect(known.destroyed).toBe(false);
		expect(flood.filter(({ destroyed }) => !destroyed)).toEqual(flood.slice(-255));
	});

	test("take no more where somebody was let in over each", () => {
		const { connections, open } = setting();
		for (let index = 0; index < 256; index++) {
			connections.admitted(open().connection.peer, index % 2 === 0 ? "alice" : "bob");
		}
		expect(open().accepted).toBe(false);
		expect(connections.size).toBe(256);
	});

	test("give one address a quarter, and one caller half", () => {
		const { connections, open } = setting();
		const other = open("10.0.0.2").connection;
		for (let index = 0; index < 100; index++) open("10.0.0.1");
		expect(connections.size).toBe(65);
		expect(other.destroyed).toBe(false);
		const callers = Array.from({ length: 140 }, () => open().connection);
		for (const { peer } of callers) connections.admitted(peer, "alice");
		expect(callers.filter(({ destroyed }) => destroyed)).toEqual(callers.slice(0, 12));
	});

	test("give one IPv6 network a quarter until callers are let in, because it has any number of addresses", () => {
		const { connections, open } = setting();
		const other = open("2001:db8:0:2::1").connection;
		const flood = Array.from({ length: 200 }, (_, at) => open(`2001:db8:0:1::${(at + 1).toString(16)}`).connection);
		expect(connections.size).toBe(65);
		expect(other.destroyed).toBe(false);
		expect(flood.filter(({ destroyed }) => !destroyed)).toEqual(flood.slice(-64));
	});

	test("close those of the busiest address of an IPv6 network, and keep its neighbours", () => {
		const { connections, open } = setting();
		const kubelet = open("fd00:1:2:3::1").connection;
		for (let index = 0; index < 1_000; index++) open("fd00:1:2:3::7");
		expect(connections.size).toBe(64);
		expect(kubelet.destroyed).toBe(false);
	});

	test("let in as many agents of one IPv6 network as there are", () => {
		const { connections, open } = setting();
		const agents = Array.from({ length: 200 }, (_, at) => {
			const { connection } = open(`fd00:1:2:3:${at.toString(16)}::7`);
			connections.admitted(connection.peer, `member-${at}`);
			return connection;
		});
		expect(agents.filter(({ destroyed }) => destroyed)).toEqual([]);
	});

	test("end after ten seconds where nobody was let in, and after twenty refusals", () => {
		const { connections, open, pass } = setting();
		const [silent, known, loud] = [open().connection, open().connection, open().connection];
		connections.admitted(known.peer, "alice");
		for (let index = 0; index < 19; index++) connections.refused(loud.peer);
		pass(100);
		expect(loud.destroyed).toBe(false);
		connections.refused(loud.peer);
		pass(100);
		expect(loud.destroyed).toBe(true);
		pass(10_000);
		expect([silent.destroyed, known.destroyed]).toEqual([true, false]);
		expect(connections.size).toBe(1);
	});

	test("end at once where calls go on coming after twenty refusals", () => {
		const { connections, open } = setting();
		const { connection } = open();
		for (let index = 0; index < 20; index++) connections.refused(connection.peer);
		expect([connections.isEnding(connection.peer), connection.destroyed]).toEqual([true, false]);
		for (let index = 0; index < 80; index++) connections.refused(connection.peer);
		expect(connection.destroyed).toBe(true);
	});

	test("that stand end in time, and later ones go on", () => {
		const { connections, open, pass } = setting();
		const before = open().connection;
		connections.admitted(before.peer, "alice");
		connections.endAfter(5_000);
		const later = open().connection;
		pass(5_000);
		expect([before.destroyed, later.destroyed]).toEqual([true, false]);
	});
});
