/** The exit code of an agent that ended because its heap was nearly full. `check` recognizes it. Differs from those of Node and shells. */
export const heapFullExitCode = 21;
