import { Elysia } from 'elysia'
import { access } from './access.ts'
import { csvLists } from './csv-list-routes.ts'
import type { HttpDeps } from './deps.ts'
import { idempotency } from './idempotency.ts'
import { versions } from './versions.ts'

/**
 * What a module's routes are added to: each states its `access`, one that must not happen twice is `idempotent` besides, and a
 * management read or change of one record is `versioned`. A merchant's list says by `csv` how it is told whole.
 */
export const routes = (deps: HttpDeps, tag: string) =>
  new Elysia({ tags: [tag] }).use(access(deps)).use(idempotency(deps)).use(versions()).use(csvLists(deps))
