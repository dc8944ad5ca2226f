import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { type Expected, etagOfVersion } from '../core/versions.ts'
import { opaqueTag } from '../lib/etag.ts'

const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"'
const listPattern = new RegExp(`^${tag}(?:[ \\t]*,[ \\t]*${tag})*$`)
const tagPattern = new RegExp(tag, 'g')

/**
 * `{ versioned: true }` on a management read of one record: its answer carries the `ETag` of the `version` that the handler returns
 * beside the record, which no response schema has; of a record that has a field of that name, of its `recordVersion`. On a change of a record: `expected` is what `If-Match` says, for the verb's
 * `Change`, and the answer carries the `ETag` of the new version. test/http/versions.test.ts holds every route to it.
 */
export const versions = () =>
  new Elysia({ name: 'http.versions' }).macro({
    versioned: (_: true) => ({
      detail: { 'x-versioned': true } as object,
      resolve: ({ request }: { request: Request }) => ({
        expected: request.method === 'GET' ? undefined : expectedOf(request.headers),
      }),
      afterHandle: ({ response, set }: { response: unknown; set: { headers: Record<string, string | number> } }) => {
        const { version: named, recordVersion: version = named } = (response ?? {}) as { version?: unknown; recordVersion?: unknown }
        if (typeof version === 'number') set.headers['etag'] = etagOfVersion(version)
      },
    }),
  })

/**
 * Returns the value of `If-Match`: `*`, or a list of tags. Tags are compared by their opaque part, because a proxy that
 * compresses responses turns `"v1"` into `W/"v1"`.
 * @throws AppError INVALID
 */
export function expectedOf(headers: Headers): Expected | undefined {
  const header = headers.get('if-match')?.trim()
  if (header === undefined || header === '*') return header
  if (!listPattern.test(header))
    throw new AppError('INVALID', 'if-match (header): `*`, or entity tags in double quotes with commas between')
  return (header.match(tagPattern) ?? []).map(opaqueTag)
}
