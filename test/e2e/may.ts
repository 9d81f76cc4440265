import type { ApiClient } from "../../demo/machine/api-client.ts";

export interface Access {
	readonly user: string;
	readonly groups?: readonly string[];
	readonly verb: string;
	/** API group; left out: the core one. */
	readonly group?: string;
	readonly resource: string;
	readonly subresource?: string;
	/** Left out: everywhere. */
	readonly namespace?: string;
}

/** Whether a user may do this, asked by the administrator: rights that were just given or taken show a moment later. */
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
