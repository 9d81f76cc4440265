/** The manager of our writes in metadata.managedFields. */
export const fieldManager = "kubectl-xpdb";
