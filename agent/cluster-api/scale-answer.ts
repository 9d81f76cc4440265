import type { ControllerReference } from "../../disruption/budget/pod.ts";

/** How many pods a controller wants, or why that is unknown. */
export type ScaleAnswer =
	/**
	 * `uid`: the object that has the name now. `ownedBy`: its own controller; if that is a Deployment, the Deployment's scale counts
	 * instead.
	 */
	| {
			readonly kind: "replicas";
			readonly replicas: number;
			readonly uid: string;
			readonly ownedBy?: ControllerReference;
	  }
	/** A DaemonSet has changed, and its controller has not yet reported the new number of nodes. */
	| { readonly kind: "unsettled"; readonly uid: string }
	/**
	 * The scale of a custom resource has no number, or its API gives none now. `why` names the field or the answer. `passes`: the number
	 * may become known without any action on the resource.
	 */
	| { readonly kind: "unstated"; readonly why: string; readonly passes: boolean }
	/** No object has this name (404), or no served version of the group has the kind. */
	| { readonly kind: "gone" }
	/** The kind is served but has no scale subresource, for example a Job. */
	| { readonly kind: "withoutScale" };
