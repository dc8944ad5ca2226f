/** What sealed answers are bound to. */
export const answerSeal = (scope: string, key: string): string => `idempotency/${scope}/${key}`
