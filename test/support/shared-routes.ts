/**
 * The routes of the whole program take longer to put together than most tests take, and each is compiled anew at its first request. So the
 * apps of a process use them one after the other: they are put together with stand-ins for an app's parts, behind which are those of
 * whichever app is asked.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createApp } from '../../src/app.ts'
import { createRouteTable } from '../../src/http/route-table.ts'
import type { AppDeps } from '../../src/providers.ts'

type Composed = {
  readonly app: { fetch(request: Request): Response | Promise<Response> }
  readonly routeTable: AppDeps['routeTable']
  /** What the routes asked of an app's parts while they were put together, and what they were told: another app that says the same may have them. */
  readonly asked: ReadonlyMap<string, Asked>
  /** Which app has them. */
  readonly user: { deps: AppDeps | undefined }
}
type Asked = { readonly path: readonly string[]; readonly told: unknown }

const idle: Composed[] = []
/** Whose request is under way: also of an app that was closed meanwhile. Where that is lost, in works that are written together, the user is asked. */
const underWay = new AsyncLocalStorage<AppDeps>()

/**
 * `createApp`, with routes that an earlier app of this process had and gave back, if that one was set up alike.
 * @returns besides, what gives them back
 */
export function sharedRoutes(deps: AppDeps) {
  const at = idle.findLastIndex(({ asked }) => asked.values().every(({ path, told }) => toldOf(valueAt(deps, path)) === told))
  const composed = at < 0 ? composedFor(deps) : (idle.splice(at, 1)[0] as Composed)
  const { app, user } = composed
  user.deps = deps
  // `fill` stays its own: what another app states, which a test makes of the same parts, is not for all.
  const { get, match, fastReads } = composed.routeTable
  Object.assign(deps.routeTable, { get, match, fastReads })
  return {
    fetch: (request: Request) => underWay.run(deps, () => app.fetch(request)),
    release() {
      user.deps = undefined
      idle.push(composed)
    },
  }
}

function composedFor(deps: AppDeps): Composed {
  const asked = new Map<string, Asked>()
  const user: Composed['user'] = { deps: undefined }
  const routeTable = createRouteTable()
  let composing: AppDeps | undefined = { ...deps, routeTable }
  const app = createApp(standIn([]) as AppDeps)
  composing = undefined
  return { app, routeTable, asked, user }

  /** What is taken from it while the routes are put together stands for that in turn. */
  function standIn(path: readonly string[]): object {
    const parts = new Map<string, object>()
    const running = () => underWay.getStore() ?? user.deps
    const now = () => valueAt(composing ?? running(), path) as Record<string, unknown>
    function partOf(name: string, value: unknown): unknown {
      const full = [...path, name]
      asked.set(full.join('.'), { path: full, told: toldOf(value) })
      if (!isPart(value)) return value
      const part = parts.get(name) ?? standIn(full)
      parts.set(name, part)
      return part
    }
    return new Proxy(path.length === 0 ? {} : () => undefined, {
      get(_, name) {
        const owner = now()
        const value = owner[name as string]
        if (composing) return partOf(name as string, value)
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

const isPart = (value: unknown): value is object => typeof value === 'function' || (typeof value === 'object' && value !== null)
/** Of apps that are set up alike what is a part is one in both, and a setting is the same. */
const toldOf = (value: unknown): unknown => (isPart(value) ? isPart : value)

function valueAt(deps: AppDeps | undefined, path: readonly string[]): unknown {
  if (!deps) throw new Error(`deps.${path.join('.')} is asked after the app was closed`)
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], deps)
}
