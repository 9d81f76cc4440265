import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { longestMessage } from "../../disruption/bounded-error.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	GarbledLeaseError,
	InvalidBudgetError,
	LeaseLostError,
} from "../../disruption/errors.ts";
import { errorOfStatus, statusOfError, unauthenticatedStatus } from "../../proto/status.ts";

describe("errors of ours", () => {
	const rows: { error: Error; code: status }[] = [
		{ error: new InvalidBudgetError("cannot enforce budget", "spec.näme"), code: status.FAILED_PRECONDITION },
		{ error: new LeaseLostError("cannot commit: taken over"), code: status.ABORTED },
		{ error: new GarbledLeaseError("cannot read Lease"), code: status.DATA_LOSS },
		{ error: new AgentUnavailableError("cannot reach the API server", "eu 2 ÄÖ"), code: status.UNAVAILABLE },
		{
			error: new AgentUnavailableError("cannot reach the API server", "eu-2", { silent: "apiServer" }),
			code: status.UNAVAILABLE,
		},
		{ error: new AgentProtocolError("cannot read message: nonce is missing"), code: status.INVALID_ARGUMENT },
		{ error: new AgentForbiddenError("cannot serve"), code: status.PERMISSION_DENIED },
	];
	for (const { error, code } of rows) {
		test(`come back as they were sent: ${error.name}`, () => {
			const sent = statusOfError(error);
			expect(sent.code).toBe(code);
			const back = errorOfStatus(received(sent), { cluster: "eu-1", call: "Commit" });
			expect(back).toBeInstanceOf(error.constructor);
			const told = error instanceof AgentUnavailableError && { told: true };
			expect(withoutCause(back)).toEqual({ ...withoutCause(error), ...told });
		});
	}

	test("are cut where they would not fit into trailers, never within a character", () => {
		const { details } = statusOfError(new LeaseLostError(`x${"😀".repeat(5_000)}`));
		// One character more, for the mark that shows the cut.
		expect(details?.length).toBe(longestMessage + 1);
		expect(() => encodeURI(details ?? "")).not.toThrow();
	});

	test("with a reason that this version does not know are judged by their code", () => {
		const metadata = new Metadata();
		metadata.set("xpdb-reason", "Tired");
		const back = errorOfStatus(received({ code: status.UNAVAILABLE, details: "", metadata }), from);
		expect(back).toBeInstanceOf(AgentUnavailableError);
	});

	test("whose trailers cannot be decoded lose that detail only", () => {
		const sent = statusOfError(new AgentUnavailableError("cannot reach", "eu-2"));
		sent.metadata?.set("xpdb-cluster", "%E0%A4%A");
		expect(errorOfStatus(received(sent), from)).toMatchObject({ reason: "AgentUnavailable", cluster: "eu-1" });
	});
});

test("A bug leaves as INTERNAL without detail", () => {
	const sent = statusOfError(new TypeError("secret of the agent"));
	expect(sent).toMatchObject({ code: status.INTERNAL, details: "Internal error, see the agent's log" });
	expect(errorOfStatus(received(sent), from)).toBeInstanceOf(AgentUnavailableError);
});

test("An unknown caller is UNAUTHENTICATED and comes back as forbidden", () => {
	const sent = unauthenticatedStatus("cannot serve: no token");
	expect(sent.code).toBe(status.UNAUTHENTICATED);
	expect(errorOfStatus(received(sent), from)).toEqual(new AgentForbiddenError("cannot serve: no token"));
});

describe("statuses that are not ours", () => {
	const rows: [status, string][] = [
		[status.UNAVAILABLE, "AgentUnavailable"],
		[status.DEADLINE_EXCEEDED, "AgentUnavailable"],
		[status.CANCELLED, "AgentUnavailable"],
		[status.UNKNOWN, "AgentUnavailable"],
		[status.INTERNAL, "AgentUnavailable"],
		[status.RESOURCE_EXHAUSTED, "AgentUnavailable"],
		[status.UNIMPLEMENTED, "AgentProtocol"],
		[status.INVALID_ARGUMENT, "AgentProtocol"],
		[status.FAILED_PRECONDITION, "AgentProtocol"],
		[status.OUT_OF_RANGE, "AgentProtocol"],
		[status.NOT_FOUND, "AgentProtocol"],
		[status.ALREADY_EXISTS, "AgentProtocol"],
		[status.PERMISSION_DENIED, "AgentForbidden"],
		[status.UNAUTHENTICATED, "AgentForbidden"],
		[status.ABORTED, "LeaseLost"],
		[status.DATA_LOSS, "GarbledLease"],
	];
	for (const [code, reason] of rows) {
		test(`mean what their code says: ${status[code]} is ${reason}`, () => {
			const error = errorOfStatus(received({ code, details: "why", metadata: new Metadata() }), from);
			expect(error).toMatchObject({
				reason,
				message: `cannot get an answer to Commit from the agent of cluster "eu-1": ${status[code]}: why`,
			});
		});
	}

	test("say that they say nothing", () => {
		const error = errorOfStatus(received({ code: status.ABORTED, details: " ", metadata: new Metadata() }), from);
		expect(error.message).toMatch(/ABORTED: no reason was given$/);
	});

	test("cover every code but OK", () => {
		const codes = Object.values(status).filter((code) => typeof code === "number" && code !== status.OK);
		expect(new Set(rows.map(([code]) => code))).toEqual(new Set(codes));
	});

	test("are told in one line, without the notes that grpc-js adds", () => {
		const details =
			"No connection established. Last error: certificate required:SSL alert 116\n (2026-11-21T03:23:59.376Z). Resolution note: ";
		const error = errorOfStatus(received({ code: status.UNAVAILABLE, details, metadata: new Metadata() }), from);
		expect(error.message).toMatch(/the agent of cluster "eu-1": no connection: certificate required:SSL alert 116$/);
	});

	test("are a matter of versions where grpc-js could not decode the answer", () => {
		const details = "Response message parsing error: index out of range";
		const error = errorOfStatus(received({ code: status.INTERNAL, details, metadata: new Metadata() }), from);
		expect(error).toBeInstanceOf(AgentProtocolError);
	});
});

const from = { cluster: "eu-1", call: "Commit" };

function withoutCause(error: Error): object {
	return Object.assign(Object.fromEntries(Object.entries(error)), { message: error.message });
}

function received(sent: ReturnType<typeof statusOfError>): ServiceError {
	const { code = status.UNKNOWN, details = "", metadata = new Metadata() } = sent;
	return Object.assign(new Error(details), { code, details, metadata });
}
