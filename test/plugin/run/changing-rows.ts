// Plays a watch of 100,000 rows for watch-heap.test.ts. Each change replaces every row's object, as with budgets. Prints the maximum size
// of V8's old space, in megabytes.
import { getHeapSpaceStatistics } from "node:v8";
import { limitHeap } from "../../../plugin/run/watch-heap.ts";

const rows = 100_000;
const changes = 20;

const watched = new Map<number, object>();
let most = 0;
for (let change = 0; change < changes; change += 1) {
	for (let row = 0; row < rows; row += 1) watched.set(row, { row, change, text: [`${row}/${change}`, change, row] });
	if (change === 1 && process.argv[2] === "limited") limitHeap();
	const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space");
	most = Math.max(most, (old?.space_used_size ?? 0) / 1024 / 1024);
}
process.stdout.write(String(Math.round(most)));
