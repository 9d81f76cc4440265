import type { ContractWorld } from "./contract-world.ts";

/** One row of the contract, which must hold for a real API server and for the small one. */
export interface ContractCase {
	readonly name: string;
	readonly run: (world: ContractWorld) => Promise<void>;
}
