// Makes the certificates of a small cluster. A separate file keeps this code out of the cluster's process, which then starts sooner.
import { join } from "node:path";
import { type ClusterCertificates, createClusterCertificates } from "../machine/certificates.ts";

export function createSmallCertificates(
	name: string,
	dir: string,
	address = "127.0.0.1",
): Promise<ClusterCertificates> {
	return createClusterCertificates({
		name,
		address,
		serviceAddress: "10.0.0.1",
		folder: join(dir, "pki"),
		tokenKeys: false,
	});
}
