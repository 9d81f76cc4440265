/**
 * The annotation on an agent's pod with HOST:PORT of its peer port. Set if other agents reach the pod at an address other than its own, or
 * at a port other than theirs.
 */
export const peerAddressAnnotation = "xpdb.form3.tech/peer-address";
