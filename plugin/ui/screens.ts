// Exports the screens, which form a separate part of the bundle. Ink and React are loaded with it when a screen opens.
export { openBudgetScreen } from "./open-budget-screen.tsx";
export { openLeaseScreen } from "./open-lease-screen.tsx";
export { openScreen } from "./open-screen.tsx";
