// Refuses kinds that must be installed first, such as cert-manager's.
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ClusterObject, objectText } from "./cluster-object.ts";
import { installStep } from "./install-step.ts";

/** Call it after a 404, which means an unknown kind or a missing namespace. Throws UsageError for an unknown kind. */
export async function refuseUnknownKind(context: KubeContext, object: ClusterObject): Promise<void> {
	const [group = "", version] = object.apiVersion.split("/");
	const isKubernetes = version === undefined || !group.includes(".") || group.endsWith(".k8s.io");
	if (isKubernetes) return;
	const { client, name, suggest } = context;
	const served = client
		.get<{ readonly resources?: readonly { readonly kind: string }[] }>(`/apis/${object.apiVersion}`)
		.then(
			({ resources = [] }) => resources.some(({ kind }) => kind === object.kind),
			(error: unknown) => {
				if (isNotFound(error)) return false;
				throw error;
			},
		);
	if (await installStep(context, `read the kinds of ${object.apiVersion}`, served)) return;
	const look = suggest.kubectl(["api-resources", `--api-group=${group}`], name);
	throw new UsageError(
		`${name}: cannot apply ${objectText(object)}: there is no ${object.kind} of ${object.apiVersion} in this cluster: nothing was touched`,
		`Install ${group.replace(/\.io$/, "")} there first ('${look}' then shows its kinds), or do without it: --certs=create`,
	);
}
