/**
 * The annotation on an agent's pod with HOST:PORT of its peer port. Set if that differs from the pod's address and the other agents' own
 * port.
 */
export const peerAddressAnnotation = "xpdb.form3.tech/peer-address";
