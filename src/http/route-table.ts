import { type TSchema, Type } from '@sinclair/typebox'
import { AppError } from '../core/errors.ts'
import { type Access, isForBrowsers } from './access-rules.ts'
import { jsonBytesMax, jsonValuesMax, largeJsonBytesMax } from './body.ts'
import { pathnameOf } from './request-url.ts'

import { type RoleFields, roleFieldsOf } from './role-fields.ts'
import { type QueryRule, type Shape, shapeOf, valuesIn } from './schema-shape.ts'

/** What a route takes in place of JSON: media types in small letters, and how much of it. */
export type UploadRule = {
  readonly types: readonly string[]
  readonly bytesMax: number
  /** Whatever is declared is taken: the route looks at the bytes. `types` are for the document then. */
  readonly anyType?: boolean
  /** Where a path takes some of them alone. */
  readonly typesOf?: (params: Readonly<Record<string, string>>) => readonly string[] | undefined
}

/** What a route states besides its handler. */
export type StatedRoute = {
  /** As it was declared: `/cart/:id`. */
  readonly path: string
  readonly access?: Access | undefined
  /** Whether the route exists at the moment. */
  readonly isOn?: (() => boolean) | undefined
  readonly upload?: UploadRule | undefined
  /** Whether it bypasses the read queue and the response limit: files, program pages, health checks and streams. */
  readonly takesNoTurn: boolean
  /** How long its body may be. */
  readonly bytesMax: number
  /** Whether numbers in its body must be told exactly. */
  readonly exactNumbers: boolean
  /** What it takes, for what has to look at a request before Elysia does; see schema-shape.ts. Made when it is first asked for. */
  readonly shapes: () => Shapes
  /** The fields of its response that some roles do not see. Made when it is first asked for. */
  readonly roleFields: () => RoleFields | undefined
}

/** What a route takes: no body is one without fields. A query or path that is not looked at is undefined. */
export type Shapes = {
  readonly body: Shape
  /** How many values its body may hold: refused before it is parsed, because parsing is what costs. */
  readonly valuesMax: number
  readonly query: QueryRule | undefined
  readonly path: Shape | undefined
}

/** A route as Elysia lists it. The macros leave what they were told in `detail`. */
export type DeclaredRoute = {
  readonly method: string
  readonly path: string
  readonly hooks: {
    readonly detail?: unknown
    readonly body?: unknown
    readonly query?: unknown
    readonly params?: unknown
    readonly response?: unknown
  }
}
type StatedDetail = {
  readonly 'x-access'?: Access
  readonly 'x-while'?: () => boolean
  readonly 'x-upload'?: UploadRule
  readonly 'x-large-json'?: true
  readonly 'x-any-query'?: true
  readonly 'x-takes-no-turn'?: true
  readonly 'x-exact-numbers'?: true
}

/** The routes of one app, for what is decided outside of a route's own hooks. Empty until the app's routes are declared. */
export type RouteTable = {
  /** Replaces what the table holds by these routes. */
  fill(routes: readonly DeclaredRoute[]): void
  /** A route by its path as it was declared: `/cart/:id`. */
  get(method: string, path: string): StatedRoute | undefined
  /** The route that answers a request for this path, for what is refused before Elysia looks for it. */
  match(method: string, pathname: string): StatedRoute | undefined
}

export function createRouteTable(): RouteTable {
  const routes = new Map<string, StatedRoute>()
  /** Those of one method and one number of segments, fixed segments before parameters. */
  const candidates = new Map<string, { segments: string[]; route: StatedRoute }[]>()
  /** Those that end in `/*`, which take whatever no other route does. */
  let rest: { start: string; route: StatedRoute }[] = []
  const groupOf = (method: string, segments: readonly string[]) => `${method} ${segments.length}`

  return {
    fill(declared) {
      routes.clear()
      candidates.clear()
      rest = []
      const placed = declared.map((one) => ({ ...one, place: parametersLast(one.path) }))
      for (const { method, path, hooks } of placed.toSorted((a, b) => (a.place < b.place ? -1 : 1))) {
        const route = statedRoute({ method, path, hooks })
        const segments = path.split('/')
        const group = groupOf(method, segments)
        routes.set(`${method} ${path}`, route)
        if (path.endsWith('/*')) rest.push({ start: `${method} ${path.slice(0, -1)}`, route })
        const alike = candidates.get(group) ?? []
        alike.push({ segments, route })
        candidates.set(group, alike)
      }
    },
    get: (method, path) => routes.get(`${method} ${path}`),
    match(method, pathname) {
      const path = pathname.split('/')
      const exact = candidates.get(groupOf(method, path))?.find(({ segments }) => fits(segments, path))
      return (exact ?? rest.find(({ start }) => `${method} ${pathname}`.startsWith(start)))?.route
    },
  }
}

function statedRoute(declared: DeclaredRoute): StatedRoute {
  const detail = (declared.hooks.detail ?? {}) as StatedDetail
  const { 'x-access': access, 'x-while': isOn, 'x-upload': upload, 'x-large-json': isLarge } = detail
  let shapes: Shapes | undefined
  let roleFields: RoleFields | undefined | null = null
  return {
    path: declared.path,
    access,
    isOn,
    upload,
    // A processor's message is no JSON of ours, and may be long.
    bytesMax: upload?.bytesMax ?? (isLarge || access === 'processor' ? largeJsonBytesMax : jsonBytesMax),
    takesNoTurn: detail['x-takes-no-turn'] === true,
    exactNumbers: detail['x-exact-numbers'] === true,
    shapes: () => {
      shapes ??= shapesOf(declared, detail['x-any-query'] === true || access === 'processor')
      return shapes
    },
    roleFields: () => {
      if (roleFields === null) roleFields = roleFieldsOfResponse(declared.hooks.response)
      return roleFields
    },
  }
}

/** Of the successful answers, which all show the same record. */
function roleFieldsOfResponse(response: unknown): RoleFields | undefined {
  for (const [status, schema] of Object.entries(response ?? {})) {
    const found = Number(status) < 300 ? roleFieldsOf(schema as TSchema) : undefined
    if (found) return found
  }
  return undefined
}

function shapesOf({ method, path, hooks: { body, query, params } }: DeclaredRoute, anyQuery: boolean): Shapes {
  // Reads by id or handle have no use for a query, and links to them carry what others put there.
  const isRead = method === 'GET' && /\/:[^/]+$/.test(path) && query === undefined
  const bodyShape = shapeOf((body as TSchema | undefined) ?? nothing)
  return {
    body: bodyShape,
    valuesMax: Math.min(jsonValuesMax, 2 * valuesIn(bodyShape) + strayValuesMax),
    query:
      query === undefined && (anyQuery || isRead)
        ? undefined
        : { shape: shapeOf((query as TSchema | undefined) ?? nothing), ignoresUnknown: anyQuery },
    path: params === undefined ? undefined : shapeOf(params as TSchema),
  }
}

const nothing = Type.Object({})
/** A body with twice as many values as its fields can hold, and so many more, is still told which list is too long or which name unknown. */
const strayValuesMax = 1_000

/**
 * Refuses a route that is switched off as if there were none.
 * @throws AppError NOT_FOUND
 */
export function assertOn(isOn: (() => boolean) | undefined): void {
  if (isOn && !isOn()) throw noSuchPath()
}

const parametersLast = (path: string) => path.replaceAll(':', '\uffff')

const fits = (segments: readonly string[], path: readonly string[]) =>
  segments.every((segment, at) => segment === path[at] || (segment.startsWith(':') && path[at] !== ''))

/**
 * Whether pages of any origin may read that a request is refused: as they may read the answers of its route, or, where its method has
 * none at that path, of the route that reads there.
 */
export function isOpenPath(routes: RouteTable, { method, url }: Pick<Request, 'method' | 'url'>): boolean {
  const path = pathnameOf(url)
  const route = routes.match(method === 'HEAD' ? 'GET' : method, path) ?? routes.match('GET', path)
  return isForBrowsers(route?.access)
}

/** Says that no route answers here; also of one that is switched off. */
export const noSuchPath = () => new AppError('NOT_FOUND', 'There is nothing at this path')

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The refusal of a request that no route answers: another method may be allowed at its path. */
export function noSuchRoute(routes: RouteTable, { url }: Pick<Request, 'url'>): AppError {
  const path = pathnameOf(url)
  const allowed = methods.flatMap((method) => {
    const route = routes.match(method, path)
    return route && (route.isOn?.() ?? true) ? [{ method, route }] : []
  })
  if (allowed.length === 0) return noSuchPath()
  const named = allowed.map(({ method }) => method)
  const others = [
    ...(named.includes('GET') ? ['HEAD'] : []),
    ...(allowed.some(({ route }) => isForBrowsers(route.access)) ? ['OPTIONS'] : []),
  ]
  return new AppError('METHOD_NOT_ALLOWED', `Method not allowed; allowed: ${named.join(', ')}`, { allow: [...named, ...others] })
}
