/** Letters without their marks and case, so that `cafe` finds what is called so with an accent. */
export const foldText = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
