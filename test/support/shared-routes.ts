/**
 * Shares composed routes between the apps of a process, because composing them takes longer than most tests, and each
 * route is compiled at its first request. They are composed with proxies for the container, which forward to the
 * container of the app that handles the current request.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createApp } from '../../src/app.ts'
import { createRouteTable } from '../../src/http/route-table.ts'
import type { AppDeps } from '../../src/providers.ts'

type Composed = {
  readonly app: { fetch(request: Request): Response | Promise<Response> }
  readonly routeTable: AppDeps['routeTable']
  /** Values that the routes read while they were composed. An app with the same values can use these routes. */
  readonly asked: ReadonlyMap<string, ReadValue>
  /** The app that uses the routes now. */
  readonly user: { deps: AppDeps | undefined }
}
type ReadValue = { readonly path: readonly string[]; readonly told: unknown }

const idle: Composed[] = []
/**
 * The container of the current request. Writes that share a commit lose this context, and use the current user instead.
 */
const currentDeps = new AsyncLocalStorage<AppDeps>()

/**
 * Returns the routes of `createApp`, reused from an earlier app of this process with equal settings if possible.
 * @returns also `release`, which makes them available to the next app
 */
export function sharedRoutes(deps: AppDeps) {
  const at = idle.findLastIndex(({ asked }) => asked.values().every(({ path, told }) => comparableOf(valueAt(deps, path)) === told))
  const composed = at < 0 ? composeRoutes(deps) : (idle.splice(at, 1)[0] as Composed)
  const { app, user } = composed
  user.deps = deps
  // `fill` is not shared, because a test may compose another app of the same container.
  const { get, match, fastReads } = composed.routeTable
  Object.assign(deps.routeTable, { get, match, fastReads })
  return {
    fetch: (request: Request) => currentDeps.run(deps, () => app.fetch(request)),
    release() {
      user.deps = undefined
      idle.push(composed)
    },
  }
}

function composeRoutes(deps: AppDeps): Composed {
  const asked = new Map<string, ReadValue>()
  const user: Composed['user'] = { deps: undefined }
  const routeTable = createRouteTable()
  let composing: AppDeps | undefined = { ...deps, routeTable }
  const app = createApp(standIn([]) as AppDeps)
  composing = undefined
  return { app, routeTable, asked, user }

  /** Returns a proxy for a value of the container. Its members are proxies too while the routes are composed. */
  function standIn(path: readonly string[]): object {
    const members = new Map<string, object>()
    const running = () => currentDeps.getStore() ?? user.deps
    const now = () => valueAt(composing ?? running(), path) as Record<string, unknown>
    function memberOf(name: string, value: unknown): unknown {
      const full = [...path, name]
      asked.set(full.join('.'), { path: full, told: comparableOf(value) })
      if (!isReference(value)) return value
      const part = members.get(name) ?? standIn(full)
      members.set(name, part)
      return part
    }
    return new Proxy(path.length === 0 ? {} : () => undefined, {
      get(_, name) {
        const owner = now()
        const value = owner[name as string]
        if (composing) return memberOf(name as string, value)
        return path.length > 0 && typeof value === 'function' ? value.bind(owner) : value
      },
      apply(_, _self, args) {
        if (composing && path[0] !== 'routeTable') throw new Error(`deps.${path.join('.')} is called while routes are put together`)
        const owner = valueAt(composing ?? running(), path.slice(0, -1)) as Record<string, (...given: unknown[]) => unknown>
        return owner[path.at(-1) ?? '']?.(...args)
      },
      has: (_, name) => name in now(),
      ownKeys: () => Reflect.ownKeys(now()),
      getOwnPropertyDescriptor(_, name) {
        const found = Reflect.getOwnPropertyDescriptor(now(), name)
        return found && { ...found, configurable: true }
      },
    })
  }
}

const isReference = (value: unknown): value is object => typeof value === 'function' || (typeof value === 'object' && value !== null)
/** Returns a value for comparison: the same for all objects and functions, and the value itself for settings. */
const comparableOf = (value: unknown): unknown => (isReference(value) ? isReference : value)

function valueAt(deps: AppDeps | undefined, path: readonly string[]): unknown {
  if (!deps) throw new Error(`deps.${path.join('.')} is asked after the app was closed`)
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], deps)
}
