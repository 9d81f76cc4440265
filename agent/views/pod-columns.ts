// Stores pods in columns: about 80 bytes each, where an object of its own with its texts takes 450. A record is made when it is read.
//
// Guarantee: record() returns exactly what was put last under that uid. A uid has one name and a name has one uid: a pod that was stored
// twice would count twice.
//
// A column has the usual form of a value: a uid of 32 hexadecimal digits, a version below 2^53, and a name that continues the controller's
// name with up to eight characters. What does not fit is kept as text beside the columns.
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import type { PodStatus } from "../../disruption/budget/pod-status.ts";
import { type LabelSelector, matchesSelector } from "../../disruption/budget/selector.ts";
import { Interned } from "./interned.ts";
import { hashText, RowTable } from "./row-table.ts";
import { hashUid, UidColumn, uidKey } from "./uid-column.ts";

type Labels = PodRecord["labels"];

const [isReady, isTerminating, isFinished] = [1, 2, 4];
const none = -1;
const suffixBytes = 8;
const firstRows = 64;

interface Namespace {
	/** A row of each group of pods with equal labels, by the number of the labels. */
	readonly groups: Map<number, number>;
	/** The groups of each selector. Replaced when the groups change. */
	selected: WeakMap<LabelSelector, readonly number[]>;
}

/** Texts and lists that do not fit into columns, by row. */
class Beside {
	readonly name = new Map<number, string>();
	readonly version = new Map<number, string>();
	readonly preActivities = new Map<number, readonly string[]>();
	readonly status = new Map<number, PodStatus>();

	forget(row: number): void {
		for (const map of [this.name, this.version, this.preActivities, this.status]) map.delete(row);
	}

	clear(): void {
		for (const map of [this.name, this.version, this.preActivities, this.status]) map.clear();
	}
}

export class PodColumns {
	#capacity = 0;
	#suffix = new Uint8Array();
	#suffixLength = new Uint8Array();
	#version = new Float64Array();
	#namespace = new Int32Array();
	#labels = new Int32Array();
	#controller = new Int32Array();
	#node = new Int32Array();
	#flags = new Uint8Array();
	/** Whether a list that is being read has shown the row. */
	#listed = new Uint8Array();
	/** The rows of a group of pods with equal labels are a ring. Free rows are a chain by `#next`. */
	#next = new Int32Array();
	#previous = new Int32Array();
	#firstFree = none;
	#size = 0;
	readonly #uids = new UidColumn();
	readonly #beside = new Beside();
	readonly #texts = new Interned<string>({ hashOf: hashText, areEqual: (a, b) => a === b });
	readonly #labelSets = new Interned<Labels>({ hashOf: hashLabels, areEqual: sameLabels });
	readonly #controllers = new Interned<ControllerReference>({
		hashOf: ({ uid, name, kind, apiVersion }) => hashText(apiVersion, hashText(kind, hashText(name, hashText(uid)))),
		areEqual: sameReference,
	});
	readonly #byUid = new RowTable((row) => this.#uids.hashAt(row));
	readonly #byName = new RowTable((row) => hashText(this.#nameAt(row), this.#namespace[row]));
	readonly #namespaces = new Map<number, Namespace>();

	get size(): number {
		return this.#size;
	}

	find(uid: string): PodRecord | undefined {
		const row = this.#rowOf(uid);
		return row < 0 ? undefined : this.#record(row);
	}

	has(uid: string): boolean {
		return this.#rowOf(uid) >= 0;
	}

	findByName(namespace: string, name: string): PodRecord | undefined {
		const row = this.#rowByName(namespace, name);
		return row < 0 ? undefined : this.#record(row);
	}

	namespaces(): readonly string[] {
		return [...this.#namespaces.keys()].map((id) => this.#texts.at(id));
	}

	/** All pods of the namespace. */
	*pods(namespace: string): Iterable<PodRecord> {
		for (const first of this.#namespaceOf(namespace)?.groups.values() ?? []) yield* this.#ring(first);
	}

	/**
	 * The pods of the namespace that the selector selects. It is compared with each set of labels once, and its result is kept until the
	 * sets change, because a watch on 1,000 budgets uses 1,000 selectors again and again.
	 */
	*selected(name: string, selector: LabelSelector): Iterable<PodRecord> {
		const namespace = this.#namespaceOf(name);
		if (!namespace) return;
		let selected = namespace.selected.get(selector);
		if (!selected) {
			selected = [...namespace.groups.keys()].filter((id) => matchesSelector(selector, this.#labelSets.at(id)));
			namespace.selected.set(selector, selected);
		}
		for (const id of selected) {
			const first = namespace.groups.get(id);
			if (first !== undefined) yield* this.#ring(first);
		}
	}

	/** Returns the uid of another pod that had the name and is gone. */
	put(pod: PodRecord): string | undefined {
		const named = this.#rowByName(pod.namespace, pod.name);
		const row = this.#rowOf(pod.uid);
		if (row >= 0 && row === named) {
			this.#update(row, pod);
			return undefined;
		}
		const displaced = named >= 0 ? this.#uids.at(named) : undefined;
		if (named >= 0) this.#remove(named);
		if (row >= 0) this.#remove(row);
		this.#insert(pod);
		return displaced;
	}

	remove(uid: string): void {
		const row = this.#rowOf(uid);
		if (row >= 0) this.#remove(row);
	}

	clear(): void {
		this.#beside.clear();
		this.#uids.clear();
		for (const interned of [this.#texts, this.#labelSets, this.#controllers]) interned.clear();
		this.#byUid.clear();
		this.#byName.clear();
		this.#namespaces.clear();
		this.#size = 0;
		this.#capacity = 0;
		this.#firstFree = none;
		this.#resize(0);
	}

	/** From now on, put() notes that a row was listed. */
	beginList(): void {
		this.#listed.fill(0);
	}

	/** The uids of the pods that were not put since beginList(). */
	unlisted(): readonly string[] {
		const uids: string[] = [];
		for (const { groups } of this.#namespaces.values())
			for (const first of groups.values())
				for (const row of this.#rows(first)) if (this.#listed[row] === 0) uids.push(this.#uids.at(row));
		return uids;
	}

	*#rows(first: number): Iterable<number> {
		let row = first;
		do {
			yield row;
			row = this.#next[row] ?? first;
		} while (row !== first);
	}

	*#ring(first: number): Iterable<PodRecord> {
		for (const row of this.#rows(first)) yield this.#record(row);
	}

	#rowOf(uid: string): number {
		const key = uidKey(uid);
		return this.#byUid.find(hashUid(key), (row) => this.#uids.isAt(row, key));
	}

	#rowByName(namespace: string, name: string): number {
		const id = this.#texts.find(namespace);
		if (id === undefined) return none;
		const isIt = (row: number): boolean => this.#namespace[row] === id && this.#nameAt(row) === name;
		return this.#byName.find(hashText(name, id), isIt);
	}

	#record(row: number): PodRecord {
		const flags = this.#flags[row] ?? 0;
		const controller = this.#controller[row] ?? none;
		const status = this.#beside.status.get(row);
		return {
			uid: this.#uids.at(row),
			name: this.#nameAt(row),
			namespace: this.#texts.at(this.#namespace[row] ?? none),
			resourceVersion: this.#beside.version.get(row) ?? String(this.#version[row]),
			labels: this.#labelSets.at(this.#labels[row] ?? none),
			node: this.#texts.at(this.#node[row] ?? none),
			...(controller !== none && { controller: this.#controllers.at(controller) }),
			ready: (flags & isReady) !== 0,
			terminating: (flags & isTerminating) !== 0,
			finished: (flags & isFinished) !== 0,
			preActivities: this.#beside.preActivities.get(row) ?? noPreActivities,
			...(status && { status }),
		};
	}

	#insert(pod: PodRecord): void {
		const row = this.#freeRow();
		this.#size += 1;
		this.#uids.write(row, pod.uid);
		this.#namespace[row] = this.#texts.take(pod.namespace);
		this.#controller[row] = pod.controller ? this.#controllers.take(pod.controller) : none;
		this.#writeName(row, pod);
		this.#labels[row] = this.#labelSets.take(pod.labels);
		this.#node[row] = this.#texts.take(pod.node);
		this.#writeRest(row, pod);
		this.#byUid.add(row);
		this.#byName.add(row);
		this.#link(row);
	}

	/** The row has this uid, namespace and name. */
	#update(row: number, pod: PodRecord): void {
		const before = { controller: this.#controller[row] ?? none, labels: this.#labels[row] ?? none };
		const node = this.#node[row] ?? none;
		// Taken before the old ones are released, so that what stays keeps its number.
		const controller = pod.controller ? this.#controllers.take(pod.controller) : none;
		const labels = this.#labelSets.take(pod.labels);
		this.#node[row] = this.#texts.take(pod.node);
		this.#texts.release(node);
		if (controller !== before.controller) {
			this.#controller[row] = controller;
			this.#writeName(row, pod);
		}
		if (before.controller !== none) this.#controllers.release(before.controller);
		this.#writeRest(row, pod);
		if (labels !== before.labels) {
			this.#unlink(row);
			this.#labels[row] = labels;
			this.#link(row);
		}
		this.#labelSets.release(before.labels);
	}

	#remove(row: number): void {
		this.#byUid.remove(row);
		this.#byName.remove(row);
		this.#unlink(row);
		const controller = this.#controller[row] ?? none;
		if (controller !== none) this.#controllers.release(controller);
		this.#labelSets.release(this.#labels[row] ?? none);
		this.#texts.release(this.#node[row] ?? none);
		this.#texts.release(this.#namespace[row] ?? none);
		this.#beside.forget(row);
		this.#uids.forget(row);
		this.#next[row] = this.#firstFree;
		this.#firstFree = row;
		this.#size -= 1;
	}

	#link(row: number): void {
		const id = this.#namespace[row] ?? none;
		const labels = this.#labels[row] ?? none;
		let namespace = this.#namespaces.get(id);
		if (!namespace) this.#namespaces.set(id, (namespace = { groups: new Map(), selected: new WeakMap() }));
		const first = namespace.groups.get(labels);
		if (first === undefined) {
			namespace.groups.set(labels, row);
			namespace.selected = new WeakMap();
			this.#next[row] = row;
			this.#previous[row] = row;
			return;
		}
		const last = this.#previous[first] ?? first;
		this.#next[last] = row;
		this.#previous[row] = last;
		this.#next[row] = first;
		this.#previous[first] = row;
	}

	#unlink(row: number): void {
		const id = this.#namespace[row] ?? none;
		const labels = this.#labels[row] ?? none;
		const namespace = this.#namespaces.get(id);
		if (!namespace) return;
		const [next = row, previous = row] = [this.#next[row], this.#previous[row]];
		if (next === row) {
			namespace.groups.delete(labels);
			namespace.selected = new WeakMap();
			if (namespace.groups.size === 0) this.#namespaces.delete(id);
			return;
		}
		this.#next[previous] = next;
		this.#previous[next] = previous;
		if (namespace.groups.get(labels) === row) namespace.groups.set(labels, next);
	}

	#namespaceOf(name: string): Namespace | undefined {
		const id = this.#texts.find(name);
		return id === undefined ? undefined : this.#namespaces.get(id);
	}

	#nameAt(row: number): string {
		const text = this.#beside.name.get(row);
		if (text !== undefined) return text;
		const from = suffixBytes * row;
		let name = `${this.#controllers.at(this.#controller[row] ?? none).name}-`;
		for (let index = from; index < from + (this.#suffixLength[row] ?? 0); index += 1)
			name += String.fromCharCode(this.#suffix[index] ?? 0);
		return name;
	}

	#writeName(row: number, { name, controller }: PodRecord): void {
		const prefix = controller && `${controller.name}-`;
		const suffix = prefix !== undefined && name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
		if (suffix === undefined || suffix.length > suffixBytes || !/^[\x21-\x7e]*$/.test(suffix)) {
			this.#beside.name.set(row, name);
			return;
		}
		this.#beside.name.delete(row);
		this.#suffixLength[row] = suffix.length;
		for (let index = 0; index < suffix.length; index += 1)
			this.#suffix[suffixBytes * row + index] = suffix.charCodeAt(index);
	}

	#writeRest(row: number, { resourceVersion, preActivities, status, ...pod }: PodRecord): void {
		const version = Number(resourceVersion);
		this.#version[row] = version;
		if (String(version) === resourceVersion) this.#beside.version.delete(row);
		else this.#beside.version.set(row, resourceVersion);
		this.#flags[row] =
			(pod.ready ? isReady : 0) | (pod.terminating ? isTerminating : 0) | (pod.finished ? isFinished : 0);
		if (preActivities.length > 0) this.#beside.preActivities.set(row, preActivities);
		else this.#beside.preActivities.delete(row);
		if (status) this.#beside.status.set(row, status);
		else this.#beside.status.delete(row);
		this.#listed[row] = 1;
	}

	#freeRow(): number {
		if (this.#firstFree === none) this.#resize(Math.max(firstRows, Math.ceil(this.#capacity * 1.25)));
		const row = this.#firstFree;
		this.#firstFree = this.#next[row] ?? none;
		return row;
	}

	#resize(rows: number): void {
		this.#uids.resize(rows);
		this.#suffix = grown(this.#suffix, new Uint8Array(suffixBytes * rows));
		this.#suffixLength = grown(this.#suffixLength, new Uint8Array(rows));
		this.#version = grown(this.#version, new Float64Array(rows));
		this.#namespace = grown(this.#namespace, new Int32Array(rows));
		this.#labels = grown(this.#labels, new Int32Array(rows));
		this.#controller = grown(this.#controller, new Int32Array(rows));
		this.#node = grown(this.#node, new Int32Array(rows));
		this.#flags = grown(this.#flags, new Uint8Array(rows));
		this.#listed = grown(this.#listed, new Uint8Array(rows));
		this.#next = grown(this.#next, new Int32Array(rows));
		this.#previous = grown(this.#previous, new Int32Array(rows));
		for (let row = rows - 1; row >= this.#capacity; row -= 1) {
			this.#next[row] = this.#firstFree;
			this.#firstFree = row;
		}
		this.#capacity = rows;
	}
}

const noPreActivities: readonly string[] = [];

/** The same for labels in any order. */
function hashLabels(labels: Labels): number {
	let hash = 0;
	for (const key of Object.keys(labels)) hash = (hash + hashText(labels[key] ?? "", hashText(key))) >>> 0;
	return hash;
}

function sameLabels(a: Labels, b: Labels): boolean {
	if (a === b) return true;
	const keys = Object.keys(a);
	return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

function sameReference(a: ControllerReference, b: ControllerReference): boolean {
	return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

interface Column {
	readonly length: number;
	set(values: ArrayLike<number>): void;
}

function grown<C extends Column & ArrayLike<number>>(column: C, larger: C): C {
	if (larger.length >= column.length) larger.set(column);
	return larger;
}
