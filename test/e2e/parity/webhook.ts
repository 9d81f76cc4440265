// Plays a webhook that refuses evictions as often as its path says.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createAuthority } from "../../../demo/machine/certificates.ts";

export interface Webhook {
	/**
	 * Append `/WHO/CODE/TIMES`, optionally with `/SECONDS` for Retry-After: the first TIMES requests of WHO get CODE, all others are allowed.
	 */
	readonly address: string;
	readonly caBundle: string;
	close(): void;
}

interface Review {
	readonly request: {
		readonly uid: string;
		readonly object: { readonly deleteOptions?: { readonly dryRun?: unknown } };
	};
}

export async function startWebhook(): Promise<Webhook> {
	const authority = await createAuthority("webhook");
	const { certificate, key } = await authority.issue({
		commonName: "webhook",
		ipAddresses: ["127.0.0.1"],
		usages: ["server"],
	});
	const refusals = new Map<string, number>();
	const server = createServer({ cert: certificate, key }, (request, response) => {
		void text(request).then((body) => {
			const { request: asked } = JSON.parse(body) as Review;
			const path = new URL(request.url ?? "/", "https://webhook").pathname;
			const [, , code = "", times = "", seconds] = path.split("/");
			const before = refusals.get(path) ?? 0;
			// Dry runs only test whether the webhook is in force, so they do not count.
			if (asked.object.deleteOptions?.dryRun === undefined) refusals.set(path, before + 1);
			const allowed = before >= Number(times);
			const status = {
				code: Number(code),
				message: "not now",
				...(seconds !== undefined && { details: { retryAfterSeconds: Number(seconds) } }),
			};
			response.setHeader("content-type", "application/json");
			response.end(
				JSON.stringify({
					apiVersion: "admission.k8s.io/v1",
					kind: "AdmissionReview",
					response: { uid: asked.uid, allowed, ...(!allowed && { status }) },
				}),
			);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		address: `https://127.0.0.1:${port}`,
		caBundle: Buffer.from(authority.certificate).toString("base64"),
		close: () => void server.close(),
	};
}
