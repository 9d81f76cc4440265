// Keeps the version that a watch has reached, and decides where it may resume.
//
// Guarantee: a watch resumes from a version only over the session to the API server that reported that version; over any other session
// everything is listed again. A restarted API server may have an etcd from a backup, which may have reached or passed that version through
// other changes. A watch that its server ends normally, every few minutes, costs no list.
export class WatchPlace {
	#version = "";
	#session = 0;

	/** Records that this session has reported all changes up to this version, or a list at it. */
	reached(version: string, session: number): void {
		this.#version = version;
		this.#session = session;
	}

	/**
	 * Forgets the version, because the reported state cannot be trusted or the server has forgotten the version. Returns false if there was
	 * none.
	 */
	forget(): boolean {
		const wasKnown = this.#version !== "";
		this.#version = "";
		return wasKnown;
	}

	/** Returns the version to resume from over this session; "" if everything must be listed. */
	resumeFrom(session: number): string {
		return session === this.#session ? this.#version : "";
	}
}
