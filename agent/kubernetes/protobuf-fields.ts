// Describes the parts of Kubernetes' protobuf messages that an agent reads: the numbers and types of their fields, as upstream publishes
// them (generated.proto in k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1). All other fields are skipped.

export type Field =
	| { readonly name: string; readonly type: "text" | "number" | "bool" | "time" | "texts" }
	| { readonly name: string; readonly type: "message" | "messages"; readonly fields: Fields };

/** By field number. */
export type Fields = Readonly<Record<number, Field>>;

const text = (name: string): Field => ({ name, type: "text" });
const number = (name: string): Field => ({ name, type: "number" });
const bool = (name: string): Field => ({ name, type: "bool" });
const time = (name: string): Field => ({ name, type: "time" });
const texts = (name: string): Field => ({ name, type: "texts" });
const message = (name: string, fields: Fields): Field => ({ name, type: "message", fields });
const messages = (name: string, fields: Fields): Field => ({ name, type: "messages", fields });

const objectMeta: Fields = {
	1: text("name"),
	3: text("namespace"),
	5: text("uid"),
	6: text("resourceVersion"),
	8: time("creationTimestamp"),
	9: time("deletionTimestamp"),
	10: number("deletionGracePeriodSeconds"),
	11: texts("labels"),
	12: texts("annotations"),
	13: messages("ownerReferences", {
		1: text("kind"),
		3: text("name"),
		4: text("uid"),
		5: text("apiVersion"),
		6: bool("controller"),
	}),
};

const containerStatus: Fields = {
	1: text("name"),
	2: message("state", {
		1: message("waiting", { 1: text("reason") }),
		2: message("running", {}),
		3: message("terminated", { 1: number("exitCode"), 2: number("signal"), 3: text("reason") }),
	}),
	9: bool("started"),
};

export const podFields: Fields = {
	1: message("metadata", objectMeta),
	2: message("spec", {
		10: text("nodeName"),
		20: messages("initContainers", { 1: text("name"), 24: text("restartPolicy") }),
	}),
	3: message("status", {
		1: text("phase"),
		2: messages("conditions", {
			1: text("type"),
			2: text("status"),
			4: time("lastTransitionTime"),
			5: text("reason"),
			6: text("message"),
		}),
		4: text("reason"),
		8: messages("containerStatuses", containerStatus),
		10: messages("initContainerStatuses", containerStatus),
	}),
};

/** An error of the API server, in the place of an object. */
export const statusFields: Fields = { 3: text("message"), 6: number("code") };
