/** The name under which our writes appear in metadata.managedFields. */
export const fieldManager = "kubectl-xpdb";
