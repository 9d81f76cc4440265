/**
 * The annotation on an agent's pod with HOST:PORT of its peer port. Set if other agents reach the pod at another address or port than its
 * own.
 */
export const peerAddressAnnotation = "xpdb.form3.tech/peer-address";
