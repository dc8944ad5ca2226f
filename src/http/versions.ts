import { Elysia } from 'elysia'
import { invalidField } from '../core/errors.ts'
import { type ExpectedVersion, etagOfVersion } from '../core/versions.ts'
import { opaqueTag } from '../lib/etag.ts'

const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"'
/** A list may have empty elements (RFC 9110, 5.6.1), as some proxies join header lines. */
const listPattern = new RegExp(`^[ \\t,]*${tag}(?:[ \\t]*,[ \\t,]*${tag})*[ \\t,]*$`)
const tagPattern = new RegExp(tag, 'g')

/**
 * Adds `{ versioned: true }`. A read of one record sends the `ETag` of the `version` (or `recordVersion`) that the
 * handler returns beside the schema's fields. A change gets `expected`, the value of `If-Match`, for its
 * `CommandContext`, and sends the new `ETag`. test/http/versions.test.ts checks every route.
 */
export const versions = () =>
  new Elysia({ name: 'http.versions' }).macro({
    versioned: (_: true) => ({
      detail: { 'x-versioned': true } as object,
      resolve: ({ request }: { request: Request }) => ({
        expected: request.method === 'GET' ? undefined : expectedVersionOf(request.headers),
      }),
      afterHandle: ({ response, set }: { response: unknown; set: { headers: Record<string, string | number> } }) => {
        const { version: named, recordVersion: version = named } = (response ?? {}) as { version?: unknown; recordVersion?: unknown }
        if (typeof version === 'number') set.headers['etag'] = etagOfVersion(version)
      },
    }),
  })

/**
 * Parses `If-Match`: `*`, or a list of tags. Tags are compared by their opaque part, because compressing proxies turn
 * `"v1"` into `W/"v1"`.
 * @throws AppError INVALID
 */
export function expectedVersionOf(headers: Headers): ExpectedVersion | undefined {
  const header = headers.get('if-match')?.trim()
  if (header === undefined || header === '*') return header
  if (!listPattern.test(header)) throw invalidField('if-match', 'must be `*` or entity tags in double quotes, separated by commas')
  return (header.match(tagPattern) ?? []).map(opaqueTag)
}
