/** The maximum number of budgets in one list. With their specs they are about a megabyte. */
export const mostBudgets = 5_000;
