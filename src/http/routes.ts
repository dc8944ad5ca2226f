import { Elysia } from 'elysia'
import { access } from './access.ts'
import { csvLists } from './csv-list-routes.ts'
import type { HttpDeps } from './deps.ts'
import { idempotency } from './idempotency.ts'
import { uploads } from './upload.ts'
import { versions } from './versions.ts'

/** Creates the plugin that adds all route options. Unnamed, because Elysia compares named plugins at each use. */
const routeOptions = (deps: HttpDeps) =>
  new Elysia().use(access(deps)).use(idempotency(deps)).use(versions()).use(csvLists(deps)).use(uploads(deps))

/** By container: modules share one plugin, because creating it for each takes a tenth of a start. */
const plugins = new WeakMap<HttpDeps, ReturnType<typeof routeOptions>>()

/**
 * Creates the Elysia instance of a module's routes. Each route states its `access`. `idempotent`: the effect happens
 * once per key. `versioned`: a management read or change of one record. `csv`: exports a merchant's list. `upload`: the
 * body is a file.
 */
export const routes = (deps: HttpDeps, tag: string) => new Elysia({ tags: [tag] }).use(plugins.getOrInsertComputed(deps, routeOptions))

/** Responds 204 when `work` is done. */
export async function noContent(set: { status?: number | string }, work: Promise<unknown>): Promise<void> {
  await work
  set.status = 204
}
