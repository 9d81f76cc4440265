/** Of version 1: from there on ValidatingAdmissionPolicies are stable. Tests run on it (test/controlplane/go/kubernetes-oldest). */
export const oldestMinor = 30;
