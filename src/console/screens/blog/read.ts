import { api, readVersioned, type Schema } from '../../lib/api/api.ts'

export type VersionedBlog = { readonly data: Schema<'Blog'>; readonly etag: string }

/** @throws ApiError */
export const readBlog = (id: string, signal?: AbortSignal): Promise<VersionedBlog> =>
  readVersioned(api.GET('/blogs/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<VersionedBlog>
