/**
 * ValidatingAdmissionPolicies are stable from this minor version of Kubernetes 1. Tests run on it (test/controlplane/go/kubernetes-oldest).
 */
export const oldestMinor = 30;
