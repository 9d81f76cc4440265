import { createServer } from "node:net";
import { listen } from "../../demo/machine/endpoint.ts";
import { codeOf, messageOf, SetupError } from "../../demo/machine/setup-error.ts";
import { AddressInUseError } from "./fleet-errors.ts";

/** The second octet of 127.<octet>.<cluster>.1. Each fleet has its own, so that several fleets can run at the same time. */
export type Octet = { readonly value: number; release(): Promise<void> };

const first = 10;
const last = 250;
// A listener on this port claims the octet. Nothing connects to it.
const claimPort = 6443;

/** Claims the requested octet, or the first free one from `from` on. The claim ends with this process, even after a kill. */
export async function claimOctet(options: { readonly octet?: number; readonly from?: number } = {}): Promise<Octet> {
	if (options.octet !== undefined) {
		return await claim(options.octet);
	}
	for (let value = options.from ?? first; value <= last; value++) {
		try {
			return await claim(value);
		} catch (error) {
			if (!(error instanceof AddressInUseError)) {
				throw error;
			}
		}
	}
	throw new AddressInUseError(`No free octet: other fleets hold all of ${first} to ${last}`, {
		hint: "Stop one of them",
	});
}

export async function isClaimed(octet: number): Promise<boolean> {
	try {
		await (await claim(octet)).release();
		return false;
	} catch (error) {
		return error instanceof AddressInUseError;
	}
}

async function claim(value: number): Promise<Octet> {
	const host = `127.${value}.0.1`;
	const server = createServer((socket) => socket.destroy());
	try {
		await listen(server, { host, port: claimPort });
	} catch (error) {
		if (codeOf(error) === "EADDRINUSE") {
			throw new AddressInUseError(`Octet ${value} is in use: another fleet holds ${host}`, {
				hint: "Choose another with --octet, or leave it out to get a free one",
				cause: error,
			});
		}
		throw new SetupError(`Cannot listen on ${host}: ${messageOf(error)}`, {
			hint: "A fleet needs all of 127.0.0.0/8 on the loopback interface, as Linux has it; elsewhere add the addresses as aliases",
			cause: error,
		});
	}
	server.unref();
	return {
		value,
		release: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
			}),
	};
}
