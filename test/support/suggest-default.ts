// Suggested commands for a user who typed no flag.
import { readGlobalFlags } from "../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../plugin/flags/suggested-commands.ts";

export const suggestDefault = new SuggestedCommands(readGlobalFlags({}));
