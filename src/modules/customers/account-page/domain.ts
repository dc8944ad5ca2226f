/** The pages that mail links open if the shop has none of its own. */
export const pageKinds = ['reset', 'verify', 'invitation'] as const
export type AccountPageKind = (typeof pageKinds)[number]
