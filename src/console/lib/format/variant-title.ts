/** Title of the only variant of a product without options. */
const defaultTitle = 'Default Title'

/** Returns a variant's title; empty for a product without options. */
export const variantTitleText = (title: string | null | undefined): string => (title === defaultTitle ? '' : (title ?? ''))
