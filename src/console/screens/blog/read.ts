import { api, readVersioned, type Schema } from '../../lib/api/api.ts'

/** An article with its version. */
export type Held = { readonly data: Schema<'Blog'>; readonly etag: string }

/** @throws Refused */
export const readBlog = (id: string, signal?: AbortSignal): Promise<Held> =>
  readVersioned(api.GET('/blogs/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<Held>
