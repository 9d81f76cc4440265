import type { V1Pod } from "@kubernetes/client-node";

/** The kubelet sets it on the pod object that it creates for a static pod. `kubectl drain` skips such pods. */
const mirrorAnnotation = "kubernetes.io/config.mirror";

/**
 * Whether a kubelet runs the pod from a file on its node. An eviction deletes only the pod object: the kubelet creates it again, and the
 * containers keep running. The object names its Node as its controller, which creates no other pod.
 */
export function isStaticPod({ metadata }: V1Pod): boolean {
	return Object.hasOwn(metadata?.annotations ?? {}, mirrorAnnotation);
}
