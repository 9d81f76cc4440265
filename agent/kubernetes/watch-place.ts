// Keeps the version that a watch has reached, and decides whether it may resume there.
//
// Guarantee: a watch resumes from a version only over the session that reported that version. Over any other session everything is listed
// again: a restarted API server may have an etcd from a backup, which may have reached that version through other changes.
export class WatchPlace {
	#version = "";
	#session = 0;

	/** Records that this session has reported all changes up to this version, or a list at it. */
	reached(version: string, session: number): void {
		this.#version = version;
		this.#session = session;
	}

	/** Forgets the version, so that the next watch starts with a list. Returns false if there was none. */
	forget(): boolean {
		const wasKnown = this.#version !== "";
		this.#version = "";
		return wasKnown;
	}

	/** Returns the version to resume from over this session; "" if a list is needed. */
	resumeFrom(session: number): string {
		return session === this.#session ? this.#version : "";
	}
}
