/** The pages that a link from a mail leads to, where the shop has none of its own. */
export const pageKinds = ['reset', 'verify', 'invitation'] as const
export type AccountPageKind = (typeof pageKinds)[number]
