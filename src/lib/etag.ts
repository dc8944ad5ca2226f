/** A strong ETag of a body: 64 bits of xxHash3 and the length. */
export const etagOf = (body: string | Uint8Array): string => `"${Bun.hash.xxHash3(body).toString(36)}-${body.length.toString(36)}"`

/** An entity tag without the mark of a weak one. */
export const opaqueTag = (tag: string): string => tag.replace(/^W\//, '')
