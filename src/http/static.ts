import { Elysia } from 'elysia'
import { etagOf } from '../lib/etag.ts'
import { access } from './access.ts'
import { isHeld } from './caching.ts'
import type { HttpDeps } from './deps.ts'

export type StaticFile = {
  /** Text that is made here, or a file: what an import with `{ type: 'file' }` names, as `Bun.file`. */
  readonly body: string | Bun.BunFile
  readonly contentType: string
}

/**
 * Serves files to anybody, each at its name under a prefix and nothing beside them, with an ETag and 304. The document does not
 * show them.
 * @param files by name; they do not change while the process runs
 */
export function staticFiles(deps: HttpDeps, prefix: string, files: Readonly<Record<string, StaticFile>>, cacheControl: string) {
  const app = new Elysia().use(access(deps))
  for (const [name, file] of Object.entries(files))
    app.get(`${prefix}/${name}`, served(file, cacheControl), { access: 'public', anyQuery: true, detail: { hide: true } })
  return app
}

function served({ body, contentType }: StaticFile, cacheControl: string) {
  let etag: string | undefined
  return async ({ request }: { request: Request }): Promise<Response> => {
    etag ??= etagOf(typeof body === 'string' ? body : await body.bytes())
    const headers = { etag, 'cache-control': cacheControl }
    if (isHeld(request.headers, etag)) return new Response(null, { status: 304, headers })
    return new Response(body, { headers: { ...headers, 'content-type': contentType } })
  }
}
