import { expect, test, vi } from "vitest";
import type { FleetConnection } from "../../../plugin/fleet/fleet.ts";
import { closeConnection } from "../../../plugin/run/connect-while-finding.ts";

test("closeConnection() survives a fleet that cannot be closed, and one that was never connected", async () => {
	const close = vi.fn<() => void>(() => {
		throw Object.assign(new Error("EBUSY: resource busy, rmdir"), { code: "EBUSY" });
	});
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its end is tested
	const connection = { fleet: { close }, uncovered: [], lost: [] } as unknown as FleetConnection;
	await closeConnection({ connection: Promise.resolve(connection) });
	await closeConnection({ connection: Promise.reject(new Error("no agent answers")) });
	expect(close).toHaveBeenCalledOnce();
});
