import { describe, expect, test } from "vitest";
import { createCallLog } from "../../../plugin/fleet/call-log.ts";
import { createVerboseLog } from "../../../plugin/terminal/verbose-log.ts";
import { collectStreams } from "../../support/collected-streams.ts";

function logAt(level: number) {
	const { stderr, err } = collectStreams();
	const log = createVerboseLog(level, stderr);
	if (!log) throw new Error(`no log at ${level}`);
	const lines = () =>
		err()
			.replaceAll(/^I.*\] /gm, "")
			.replaceAll(/milliseconds=\d+/g, "milliseconds=N");
	return { observer: createCallLog(log, "us"), lines };
}

const cancel = "/xpdb.v1.AgentService/Cancel";

describe("createCallLog()", () => {
	test("6: the call, the cluster by its name as soon as an agent has said it, and how it ended", () => {
		const { observer, lines } = logAt(6);
		const first = observer.begin("/xpdb.v1.AgentService/Describe");
		first.headers({});
		first.sent({ clusterId: "" });
		first.received({ clusterId: "id-us", clusterName: "us", members: [{ id: "id-eu", name: "eu", address: "eu:1" }] });
		first.ended("OK", "OK");
		const second = observer.begin(cancel);
		second.sent({ clusterId: "id-eu", ids: ["77d27317-a475-4119"] });
		second.ended("UNAVAILABLE", "it knows nothing of 77d27317-a475-4119");
		expect(lines()).toBe(
			'"Response" verb="RPC" call="/xpdb.v1.AgentService/Describe" cluster="us" context="us" status="OK" milliseconds=N\n' +
				`"Response" verb="RPC" call="${cancel}" cluster="eu" context="us" status="UNAVAILABLE" err="it knows nothing of <masked>" milliseconds=N\n`,
		);
	});

	test("8: headers and messages, without the ids of reservations", () => {
		const { observer, lines } = logAt(8);
		const call = observer.begin(cancel);
		call.headers({ "xpdb-passed-on": "line" });
		call.sent({ clusterId: "id-eu", ids: ["77d27317-a475-4119"], sent: true });
		call.received({ clusterId: "id-eu" });
		expect(lines()).toContain(
			'"Request Body" body="{\\"clusterId\\":\\"id-eu\\",\\"ids\\":[\\"<masked>\\"],\\"sent\\":true}"\n',
		);
		expect(lines()).toContain(
			`"Request" verb="RPC" call="${cancel}" cluster="id-eu" context="us" headers=<\n\txpdb-passed-on: line\n >\n`,
		);
		expect(lines()).toContain('"Response Body" body="{\\"clusterId\\":\\"id-eu\\"}"\n');
	});
});
