// The screens, which are one part of the bundle: Ink and React are loaded with it, when one is drawn.
export { openBudgetScreen } from "./open-budget-screen.tsx";
export { openLeaseScreen } from "./open-lease-screen.tsx";
export { openScreen } from "./open-screen.tsx";
