import type { TextSink } from "../../plugin/terminal/streams.ts";

/** Writes to this process's stderr. */
export const stderrSink: TextSink = { write: (text) => void process.stderr.write(text) };
