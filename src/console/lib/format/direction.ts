/** Returns the `dir` of an input: that of its text, or that of the page while it is empty. */
export const directionOf = (text: string): 'auto' | undefined => (text === '' ? undefined : 'auto')
