import type { ApiClient } from "../../demo/machine/api-client.ts";

export interface Access {
	readonly user: string;
	readonly groups?: readonly string[];
	readonly verb: string;
	/** By default the core group. */
	readonly group?: string;
	readonly resource: string;
	readonly subresource?: string;
	/** By default all namespaces. */
	readonly namespace?: string;
}

/** Asks as the administrator whether a user has these rights. Changed rights take effect a moment later. */
export async function may(client: ApiClient, { user, groups = [], ...resourceAttributes }: Access): Promise<boolean> {
	const review = {
		apiVersion: "authorization.k8s.io/v1",
		kind: "SubjectAccessReview",
		spec: { user, groups, resourceAttributes },
	};
	const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
	const { status } = await client.send<{ readonly status: { readonly allowed: boolean } }>("POST", path, review);
	return status.allowed;
}
