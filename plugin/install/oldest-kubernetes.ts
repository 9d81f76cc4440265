/**
 * The minor version of Kubernetes 1 from which ValidatingAdmissionPolicies are stable. Tests run on it
 * (test/controlplane/go/kubernetes-oldest).
 */
export const oldestMinor = 30;
