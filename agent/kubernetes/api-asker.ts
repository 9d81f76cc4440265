// Sends single requests to the API server and turns unexpected answers into errors.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { ApiAnswer, ApiConnection, ApiRequestOptions } from "./api-connection.ts";
import { type ApiQuestion, refusal } from "./api-refusal.ts";

export interface AskOptions
	extends ApiQuestion,
		Pick<ApiRequestOptions, "method" | "path" | "body" | "contentType" | "accept"> {}

export interface ApiAsker {
	readonly connection: ApiConnection;
	/** Returns the answer if its status is 2xx or one of `expected`. Otherwise rejects with AgentUnavailableError and the reason. */
	ask(options: AskOptions, ...expected: readonly number[]): Promise<ApiAnswer>;
	refusal(answer: ApiAnswer, question: ApiQuestion): AgentUnavailableError;
	/** Runs the reader; a TypeError that it throws becomes an AgentUnavailableError. */
	read<T>(question: ApiQuestion, reader: () => T): T;
}

export function createApiAsker(connection: ApiConnection): ApiAsker {
	const { cluster } = connection;
	return {
		connection,
		async ask(options, ...expected) {
			const answer = await connection.request(options);
			if ((answer.status >= 200 && answer.status < 300) || expected.includes(answer.status)) return answer;
			throw refusal(answer, options, cluster);
		},
		refusal: (answer, question) => refusal(answer, question, cluster),
		read(question, reader) {
			try {
				return reader();
			} catch (error) {
				if (!(error instanceof TypeError)) throw error;
				throw new AgentUnavailableError(
					`cannot ${question.what} in cluster "${cluster}": the answer cannot be understood: ${error.message}`,
					cluster,
					{ cause: error },
				);
			}
		},
	};
}
