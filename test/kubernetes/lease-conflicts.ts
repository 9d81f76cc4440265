// Lists the answers to a write of a Lease if another writer was faster. A real API server, the small one and that of the exploration must
// all give these answers. The tests of LeaseStore use the same table.
export type LeaseWrite = "create" | "update" | "delete";

export interface LeaseConflict {
	/** As in "an update of …". */
	readonly name: string;
	readonly write: LeaseWrite;
	/** What others did to the Lease since we read it, in order. */
	readonly meanwhile: readonly LeaseWrite[];
	/** What our write names. By default, the Lease that we read. "uid" means only its UID, with the current version. */
	readonly names?: "uid";
	readonly answer: {
		readonly code: number;
		readonly reason: string;
		/** Returns a part of the message. */
		readonly message: (name: string, named: LeaseVersion, now: LeaseVersion) => string;
		/** The kind that the answer names. By default, the resource. Preconditions of a DELETE name the kind. */
		readonly kind?: "Lease";
	};
}

export interface LeaseVersion {
	readonly uid: string;
	readonly resourceVersion: string;
}

const refused = { code: 409, reason: "Conflict" } as const;
const failed = (name: string, why: string, resource = "leases"): string =>
	`Operation cannot be fulfilled on ${resource}.coordination.k8s.io "${name}": ${why}`;

const taken: LeaseConflict["answer"] = {
	code: 409,
	reason: "AlreadyExists",
	message: (name) => `leases.coordination.k8s.io "${name}" already exists`,
};
const modified: LeaseConflict["answer"] = {
	...refused,
	message: (name) =>
		failed(name, "the object has been modified; please apply your changes to the latest version and try again"),
};
const otherUid: LeaseConflict["answer"] = {
	...refused,
	// The storage layer puts its own words, with the key in etcd, before this message.
	message: (_name, named, now) =>
		`Precondition failed: UID in precondition: ${named.uid}, UID in object meta: ${now.uid}`,
};
const deletesOtherUid: LeaseConflict["answer"] = {
	...refused,
	kind: "Lease",
	message: (name, named, now) =>
		failed(
			name,
			`the UID in the precondition (${named.uid}) does not match the UID in record (${now.uid}). The object might have been deleted and then recreated`,
			"Lease",
		),
};
const deletesOtherVersion: LeaseConflict["answer"] = {
	...refused,
	kind: "Lease",
	message: (name, named, now) =>
		failed(
			name,
			`the ResourceVersion in the precondition (${named.resourceVersion}) does not match the ResourceVersion in record (${now.resourceVersion}). The object might have been modified`,
			"Lease",
		),
};
const missing: LeaseConflict["answer"] = {
	code: 404,
	reason: "NotFound",
	message: (name) => `leases.coordination.k8s.io "${name}" not found`,
};

const by = (write: LeaseWrite, ...meanwhile: readonly LeaseWrite[]) => ({ write, meanwhile });

export const leaseConflicts: readonly LeaseConflict[] = [
	{ ...by("create", "create"), name: "a Lease that another one made", answer: taken },
	{ ...by("update", "update"), name: "a Lease that another one wrote to", answer: modified },
	{ ...by("update", "delete"), name: "a Lease that is gone", answer: otherUid },
	{ ...by("update", "delete", "create"), name: "a Lease that was made again", answer: otherUid },
	{
		...by("update", "delete", "create"),
		name: "a Lease that was made again, at its version but by the uid of the first",
		names: "uid",
		answer: otherUid,
	},
	{ ...by("delete", "update"), name: "a Lease that another one wrote to", answer: deletesOtherVersion },
	{ ...by("delete", "delete"), name: "a Lease that is gone", answer: missing },
	{ ...by("delete", "delete", "create"), name: "a Lease that was made again", answer: deletesOtherUid },
	{
		...by("delete", "delete", "create"),
		name: "a Lease that was made again, at its version but by the uid of the first",
		names: "uid",
		answer: deletesOtherUid,
	},
];

/** Writes as other clients. withUidOf() returns `now` with the UID of `seen`. */
export interface LeaseHands<Lease> {
	create(name: string): Promise<Lease>;
	update(lease: Lease): Promise<Lease>;
	delete(lease: Lease): Promise<unknown>;
	withUidOf(seen: Lease, now: Lease): Lease;
}

/** Causes the conflict. Returns the Lease that our write names, and the current Lease if there is one. */
export async function bringAbout<Lease>(
	{ write, meanwhile, names }: LeaseConflict,
	hands: LeaseHands<Lease>,
	name: string,
): Promise<{ readonly named: Lease | undefined; readonly now: Lease | undefined }> {
	const seen = write === "create" ? undefined : await hands.create(name);
	let now = seen;
	for (const act of meanwhile) {
		if (act === "create") now = await hands.create(name);
		if (act === "update" && now) now = await hands.update(now);
		if (act === "delete" && now) {
			await hands.delete(now);
			now = undefined;
		}
	}
	return { named: names === "uid" && seen && now ? hands.withUidOf(seen, now) : seen, now };
}
