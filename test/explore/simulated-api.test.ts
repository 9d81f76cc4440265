import { describe } from "vitest";
import { leaseListRows, leaseRows } from "../agent/cluster-api/lease-contract.ts";
import { clusterApi, SimulatedApiServer } from "./simulated-api.ts";

// The simulated API server must keep the contract that real API servers keep.
describe("ClusterApi of the simulated API server", () => {
	const api = clusterApi(new SimulatedApiServer({ clusterId: "eu" }));
	leaseRows(() => ({ api }));
	leaseListRows(() => ({ api }));
});
