/** The direction of a field: of what is typed in it, and while that is nothing of the page, whose words stand there as a placeholder. */
export const directionOf = (typed: string): 'auto' | undefined => (typed === '' ? undefined : 'auto')
