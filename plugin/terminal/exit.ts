// Defines the plugin's exit codes. They are stable, because scripts rely on them. Through kubectl on Windows, only 0 and 1 are preserved.
export const exitCode = {
	done: 0,
	/** An error or a wrong use, as in kubectl. */
	error: 1,
	/** Stopped before finishing. Run the same command to continue. */
	stoppedEarly: 2,
	/**
	 * A plan or an explanation says that something can never be evicted as things are, or a check has failed. Nothing was changed, except
	 * by an installation, which ends with a check.
	 */
	neverPossible: 3,
	/** Failed closed: a cluster or a member of the fleet could not be reached, or the members' lists differ. */
	failedClosed: 4,
	/** From `explain`: an eviction is not possible now, but may become possible by itself. */
	notNow: 5,
	/** Ctrl-C. */
	interrupted: 130,
	/** SIGTERM, or the terminal was closed. */
	terminated: 143,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
