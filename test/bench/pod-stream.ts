// Reads the API server's stream of all pods in protobuf and throws it away: no agent can be ready sooner.
import { request } from "node:https";
import type { RunningCluster } from "../controlplane/cluster.ts";

/** The end of the list in a stream that has bookmarks; upstream's name of the annotation. */
const endOfList = Buffer.from("k8s.io/initial-events-end");
const timeoutMs = 300_000;

/** Returns milliseconds from the request to the end of the list. */
export function bareStreamMs({ server, certificates: { authority, pairs } }: RunningCluster): Promise<number> {
	const query = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
	const { certificate: cert, key } = pairs.admin;
	const startedAt = performance.now();
	return new Promise((resolve, reject) => {
		const asked = request(
			`${server}/api/v1/pods?${query}`,
			{
				ca: authority.certificate,
				cert,
				key,
				headers: { accept: "application/vnd.kubernetes.protobuf;stream=watch" },
				signal: AbortSignal.timeout(timeoutMs),
			},
			(answer) => {
				if (answer.statusCode !== 200) reject(new Error(`the stream of pods was answered with ${answer.statusCode}`));
				let rest = Buffer.alloc(0);
				answer.on("data", (chunk: Buffer) => {
					const bytes = Buffer.concat([rest, chunk]);
					if (bytes.includes(endOfList)) {
						resolve(performance.now() - startedAt);
						asked.destroy();
						return;
					}
					rest = bytes.subarray(-endOfList.length);
				});
				answer.on("error", reject);
			},
		);
		asked.on("error", reject);
		asked.end();
	});
}
