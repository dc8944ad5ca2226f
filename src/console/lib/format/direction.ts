/** Returns direction of an input: of its text, or of the page while it shows the placeholder. */
export const directionOf = (text: string): 'auto' | undefined => (text === '' ? undefined : 'auto')
