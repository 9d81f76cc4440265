/** On an agent's pod: HOST:PORT of its peer port, where that is not the pod's address and the other agents' own port. */
export const peerAddressAnnotation = "xpdb.form3.tech/peer-address";
