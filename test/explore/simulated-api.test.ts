import { describe } from "vitest";
import { leaseListRows, leaseRows } from "../agent/cluster-api/lease-contract.ts";
import { clusterApi, SimulatedApiServer } from "./simulated-api.ts";

// What the exploration finds is worth what its API server keeps of the contract that real ones keep.
describe("ClusterApi of the simulated API server", () => {
	const api = clusterApi(new SimulatedApiServer({ clusterId: "eu" }));
	leaseRows(() => ({ api }));
	leaseListRows(() => ({ api }));
});
