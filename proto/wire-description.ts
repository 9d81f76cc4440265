// Converts an agent's description to a message and back, as strictly as wire.ts. Fields that an older agent does not report are left out.
import { AgentProtocolError } from "../disruption/errors.ts";
import { oneLine } from "../disruption/printable.ts";
import { quote } from "../disruption/quote.ts";
import type {
	AgentCertificates,
	AgentDescription,
	BudgetList,
	CertificateMark,
	HeardMember,
	Introduction,
} from "./agent-cluster.ts";
import { required, requiredText, wholeNumber } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { budgetListMessage, readBudgetList } from "./wire-calls.ts";

/** The first question of a caller to an agent. */
export interface MeetingQuestion {
	/** The namespaces whose budgets are reported too. An empty list means all namespaces. */
	readonly budgetsOf?: readonly string[] | undefined;
	/** Whether the agent also asks the other members. */
	readonly others?: boolean;
}

/** Without a cluster id, the agent describes its own cluster. */
export function describeMessage({ budgetsOf, others = false }: MeetingQuestion, clusterId = ""): wire.DescribeRequest {
	return { clusterId, budgetsOf: budgetsOf && { names: [...budgetsOf] }, others };
}

export function readIntroduction(message: wire.DescribeResponse): Introduction {
	const others = message.others.map(readDescription);
	return { ...readDescription(message), ...(others.length > 0 && { others }) };
}

export function descriptionMessage(introduction: Introduction): wire.DescribeResponse {
	const { others = [], ...own } = introduction;
	const { features, members, unresolved = [], forgotten = [], heard = [], certificates, budgets, ...rest } = own;
	return {
		...rest,
		features: [...features],
		members: members.map(({ id, name, address = "" }) => ({ id, name, address })),
		unresolved: unresolved.map(({ id, name }) => ({ id, name, address: "" })),
		forgotten: forgotten.map(({ id, name = "" }) => ({ id, name, address: "" })),
		certificates: certificates && { ...certificates, authorities: [...certificates.authorities] },
		heard: heard.map(({ id, agoMs }) => ({ id, agoMs: Math.round(agoMs) })),
		budgets: budgets && budgetListMessage(budgets),
		others: others.map(descriptionMessage),
	};
}

/** Puts texts that people see on one line, whatever the agent sends. */
export function readDescription(message: wire.DescribeResponse): AgentDescription {
	const { unresolved, forgotten, heard, certificates, clockMs, budgets } = message;
	const clusterId = oneLine(requiredText(message.clusterId, "cluster_id"));
	return {
		clusterId,
		clusterName: oneLine(message.clusterName),
		version: oneLine(requiredText(message.version, "version")),
		features: message.features.map(oneLine),
		members: message.members.map(({ id, name, address }, index) => ({
			id: oneLine(requiredText(id, `members[${index}].id`)),
			name: oneLine(name),
			...(address !== "" && { address: oneLine(address) }),
		})),
		fleetHash: requiredText(message.fleetHash, "fleet_hash"),
		leaseNamespace: oneLine(requiredText(message.leaseNamespace, "lease_namespace")),
		...(unresolved.length > 0 && {
			unresolved: unresolved.map(({ id, name }, index) => ({
				id: oneLine(requiredText(id, `unresolved[${index}].id`)),
				name: oneLine(name),
			})),
		}),
		...(forgotten.length > 0 && {
			forgotten: forgotten.map(({ id, name }, index) => ({
				id: oneLine(requiredText(id, `forgotten[${index}].id`)),
				...(name !== "" && { name: oneLine(name) }),
			})),
		}),
		...(clockMs !== undefined && { clockMs: wholeNumber(clockMs, "clock_ms") }),
		...(certificates && { certificates: readCertificates(certificates) }),
		...(heard.length > 0 && { heard: heard.map((each, index) => readHeard(each, `heard[${index}]`)) }),
		...(budgets && { budgets: readOwnBudgets(budgets, clusterId) }),
	};
}

function readOwnBudgets(message: wire.ListBudgetsResponse, clusterId: string): BudgetList {
	const list = readBudgetList(message);
	if (list.clusterId === clusterId) return list;
	throw new AgentProtocolError(
		`cannot read message: budgets are those of cluster id ${quote(list.clusterId)}, not of ${quote(clusterId)}`,
	);
}

function readCertificates({ certificate, authorities }: wire.AgentCertificates): AgentCertificates {
	const field = "certificates.certificate";
	return {
		certificate: readCertificate(required(certificate, field), field),
		authorities: authorities.map((each, index) => readCertificate(each, `certificates.authorities[${index}]`)),
	};
}

function readCertificate({ sha256, expiresAtSeconds }: wire.Certificate, field: string): CertificateMark {
	if (!/^[0-9A-F]{2}(:[0-9A-F]{2}){31}$/.test(sha256)) {
		throw new AgentProtocolError(`cannot read message: ${field}.sha256 is not a fingerprint: ${quote(sha256)}`);
	}
	return { sha256, expiresAtSeconds: wholeNumber(expiresAtSeconds, `${field}.expires_at_seconds`) };
}

function readHeard({ id, agoMs }: wire.HeardMember, field: string): HeardMember {
	return { id: requiredText(id, `${field}.id`), agoMs: wholeNumber(agoMs, `${field}.ago_ms`) };
}
