// Makes the certificates of a small cluster. A separate file, because the cluster's process starts sooner without the code that makes them.
import { join } from "node:path";
import { type ClusterCertificates, createClusterCertificates } from "../machine/certificates.ts";

export function createSmallCertificates(name: string, dir: string): Promise<ClusterCertificates> {
	return createClusterCertificates({
		name,
		address: "127.0.0.1",
		serviceAddress: "10.0.0.1",
		folder: join(dir, "pki"),
		tokenKeys: false,
	});
}
