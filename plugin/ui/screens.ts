// Exports the screens, a separate part of the bundle that loads Ink and React only when a screen opens.
export { openBudgetScreen } from "./open-budget-screen.tsx";
export { openLeaseScreen } from "./open-lease-screen.tsx";
export { openScreen } from "./open-screen.tsx";
