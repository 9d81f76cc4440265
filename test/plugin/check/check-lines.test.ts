import { expect, test } from "vitest";
import { CheckLines } from "../../../plugin/check/check-lines.ts";
import { runChecks } from "../../../plugin/check/run-checks.ts";
import { runPreChecks } from "../../../plugin/check/run-pre-checks.ts";
import { forbidden, newClient, newContext } from "../../support/build-context.ts";

/** The user may read the server's version and the CA's key, and may list who else can read the key, but nothing more. */
const client = {
	...newClient({
		get(path) {
			if (path === "/version" || path.endsWith("/secrets/xpdb-fleet-ca")) return {};
			throw forbidden(path);
		},
		list(path) {
			if (path.startsWith("/apis/rbac.")) return [];
			throw forbidden(path);
		},
		post(path) {
			throw forbidden(path);
		},
	}),
	stream: (path: string) => Promise.reject(forbidden(path)),
};

test("the cells of each check are below the names of their clusters", async () => {
	const lines = new CheckLines({ columns: 200, hasUnicode: true, short: false });
	const contexts = ["eu", "us"].map((name) => newContext(name, client));
	const rows = [];
	for await (const row of runPreChecks(contexts)) rows.push(row);
	for await (const row of runChecks(contexts, { namespace: undefined, now: () => 0 })) rows.push(row);
	let heading = "";
	for (const row of rows) {
		const printed = lines.row(row);
		heading = printed.find((line) => line.startsWith(row.category)) ?? heading;
		const line = printed.find((each) => each.includes(row.title)) ?? "";
		for (const { cluster, text } of row.cells) {
			const column = heading.indexOf(`  ${cluster}`);
			expect(line.slice(column).startsWith(`  ${text}`), line).toBe(true);
		}
	}
	expect(rows.map(({ title }) => title)).toContain("no account can read the CA's key");
});
