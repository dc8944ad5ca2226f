/** Returns what the sealed key of a purpose is bound to. */
export const instanceKeySeal = (purpose: string): string => `instance-key/${purpose}`
