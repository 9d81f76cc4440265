// How far a watch has come, and where it may go on.
//
// Guarantee: a watch goes on from a version only over the session to the API server that told it of that version; over any
// other one everything is listed anew. An API server that was started anew may have an etcd from a backup: it may have come to
// that version again, or past it, by other changes. A watch that its server ends in good order, every few minutes, costs no list.
export class WatchPlace {
	#version = "";
	#session = 0;

	/** Told over this session, all changes up to this version or a list at it. */
	reached(version: string, session: number): void {
		this.#version = version;
		this.#session = session;
	}

	/** What it told cannot be trusted, or the server has forgotten it. False where there was nothing to forget. */
	forget(): boolean {
		const wasKnown = this.#version !== "";
		this.#version = "";
		return wasKnown;
	}

	/** The version to go on from over this session; "" where everything is to be listed. */
	resumeFrom(session: number): string {
		return session === this.#session ? this.#version : "";
	}
}
