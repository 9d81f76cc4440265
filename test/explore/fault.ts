// Names the faults of messages, and describes them for people.

/** "repeated": the request is sent again because the first answer was lost, so the caller gets the second answer. */
export type Fault = "lost" | "gaveUp" | "doubled" | "repeated" | "answerLost" | "refused";

export function faultText(fault: Fault, what: string, route: string | undefined): string {
	switch (fault) {
		case "answerLost":
			return `never gets the answer to ${what}`;
		case "lost":
			return `${what} is lost`;
		case "gaveUp":
			return `gives up ${what}, which is still on its way`;
		case "doubled":
			return `${what} at ${route}, and a double stays behind`;
		case "repeated":
			return `${what} at ${route}, twice`;
		case "refused":
			return `${what} is refused by the API server`;
	}
}
