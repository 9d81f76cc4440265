/** Owns what is written on objects, in metadata.managedFields. */
export const fieldManager = "kubectl-xpdb";
