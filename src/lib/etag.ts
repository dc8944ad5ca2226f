/** Returns a strong ETag of a body: 64 bits of xxHash3 and the length. */
export const etagOf = (body: string | Uint8Array): string => `"${Bun.hash.xxHash3(body).toString(36)}-${body.length.toString(36)}"`

/** Removes the prefix of a weak entity tag. */
export const opaqueTag = (tag: string): string => tag.replace(/^W\//, '')
