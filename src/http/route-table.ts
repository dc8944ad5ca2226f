import { type TSchema, Type } from '@sinclair/typebox'
import { AppError } from '../core/errors.ts'
import { type Access, isForBrowsers } from './access-rules.ts'
import { jsonBytesMax, jsonValuesMax, largeJsonBytesMax } from './body.ts'
import { pathnameOf } from './request-url.ts'

import { type RoleFields, roleFieldsOf } from './role-fields.ts'
import { type QueryRule, type Shape, shapeOf, valuesIn } from './schema-shape.ts'

/** The upload of a route: media types in lower case, and the size limit. */
export type UploadRule = {
  readonly types: readonly string[]
  readonly bytesMax: number
  /** Accepts any declared type, because the route checks the bytes. `types` are for the document. */
  readonly anyType?: boolean
  /** Accepted types by path parameters, if they differ. */
  readonly typesOf?: (params: Readonly<Record<string, string>>) => readonly string[] | undefined
}

/** A read that fast-reads.ts answers before the framework runs. */
export type FastRead = 'record' | 'order' | 'resolver' | 'stats' | 'profile'

/** What a route declares besides its handler. */
export type StatedRoute = {
  /** The declared path, such as `/cart/:id`. */
  readonly path: string
  readonly access?: Access | undefined
  /** Whether the route is enabled. */
  readonly isOn?: (() => boolean) | undefined
  readonly upload?: UploadRule | undefined
  /** Whether the route bypasses the read queue and the response limit: files, pages, health checks and streams. */
  readonly takesNoTurn: boolean
  readonly fastRead?: FastRead | undefined
  /** Size limit of the body. */
  readonly bytesMax: number
  /** Whether the body must not contain numbers that parsing rounds. */
  readonly exactNumbers: boolean
  /** Outlines of the schemas, for checks before Elysia; see schema-shape.ts. Created on demand. */
  readonly shapes: () => Shapes
  /** Response fields that some roles do not see. Created on demand. */
  readonly roleFields: () => RoleFields | undefined
}

/**
 * Outlines of body, query and path. Without a body schema the body has no fields; an undefined query or path is not
 * checked.
 */
type Shapes = {
  readonly body: Shape
  /** Maximum number of values in the body, checked before the expensive parsing. */
  readonly valuesMax: number
  readonly query: QueryRule | undefined
  readonly path: Shape | undefined
}

/** A route as Elysia lists it. Macros store their values in `detail`. */
type DeclaredRoute = {
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
  readonly 'x-fast-read'?: FastRead
  readonly 'x-exact-numbers'?: true
}

/** The routes of one app, for code outside of route hooks. Empty until the routes are declared. */
export type RouteTable = {
  /** Replaces the content of the table. */
  fill(routes: readonly DeclaredRoute[]): void
  /** Returns a route by its declared path, such as `/cart/:id`. */
  get(method: string, path: string): StatedRoute | undefined
  /** Returns the routes with `fastRead`. */
  fastReads(): StatedRoute[]
  /** Returns the route that matches a path. */
  match(method: string, pathname: string): StatedRoute | undefined
}

/** Creates an empty table. */
export function createRouteTable(): RouteTable {
  const routes = new Map<string, StatedRoute>()
  /** Routes by method and number of segments; fixed segments before parameters. */
  const candidates = new Map<string, { segments: string[]; route: StatedRoute }[]>()
  /** Wildcard routes (`/*`), tried last. */
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
    fastReads: () => [...routes.values()].filter(({ fastRead }) => fastRead !== undefined),
    match(method, pathname) {
      const path = pathname.split('/')
      const exact = candidates.get(groupOf(method, path))?.find(({ segments }) => matchesPath(segments, path))
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
    // Messages of processors are long and are not our JSON.
    bytesMax: upload?.bytesMax ?? (isLarge || access === 'processor' ? largeJsonBytesMax : jsonBytesMax),
    takesNoTurn: detail['x-takes-no-turn'] === true,
    fastRead: detail['x-fast-read'],
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

/** From the first successful response; all show the same record. */
function roleFieldsOfResponse(response: unknown): RoleFields | undefined {
  for (const [status, schema] of Object.entries(response ?? {})) {
    const found = Number(status) < 300 ? roleFieldsOf(schema as TSchema) : undefined
    if (found) return found
  }
  return undefined
}

function shapesOf({ method, path, hooks: { body, query, params } }: DeclaredRoute, anyQuery: boolean): Shapes {
  // Reads by id or handle ignore the query, because links contain tracking parameters.
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
/** Margin of values, so that a body that is too large still gets an error that names the list or field. */
const strayValuesMax = 1_000

/**
 * Hides a disabled route.
 * @throws AppError NOT_FOUND
 */
export function assertOn(isOn: (() => boolean) | undefined): void {
  if (isOn && !isOn()) throw noSuchPath()
}

/** Sorts fixed segments before parameters, and wildcards last. */
const parametersLast = (path: string) => path.replaceAll(':', '\uffff').replaceAll('*', '\uffff\uffff')

const matchesPath = (segments: readonly string[], path: readonly string[]) =>
  segments.every((segment, at) => segment === path[at] || (segment.startsWith(':') && path[at] !== ''))

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Returns whether pages of any origin may read the refusal of a request: as for the responses of its route or, without
 * one, of the GET route of the path.
 */
export function isOpenPath(routes: RouteTable, { method, url }: Pick<Request, 'method' | 'url'>): boolean {
  const path = pathnameOf(url)
  // A fixed path without GET, such as `/v2/orders/fulfilments`, also matches the pattern of a GET route.
  const fixed = methods.map((one) => routes.get(one, path)).find((one) => one !== undefined)
  const route = routes.match(method === 'HEAD' ? 'GET' : method, path) ?? fixed ?? routes.match('GET', path)
  return isForBrowsers(route?.access)
}

/** Returns the methods of a path that pages of any origin may call. A fixed path hides one with a parameter. */
export function browserMethods(routes: RouteTable, { url }: Pick<Request, 'url'>): string[] {
  const path = pathnameOf(url)
  const found = methods.flatMap((method) => {
    const route = routes.match(method, path)
    return route ? [{ method, route, place: parametersLast(route.path) }] : []
  })
  const [closest] = found.toSorted((a, b) => (a.place < b.place ? -1 : 1))
  return found.filter(({ route, place }) => place === closest?.place && isForBrowsers(route.access)).map(({ method }) => method)
}

/** Returns the error of a path without a route, also of a disabled one. */
export const noSuchPath = () => new AppError('NOT_FOUND', 'Unknown path')

/** Returns 405 if the path has other methods, otherwise 404. */
export function noSuchRoute(routes: RouteTable, { method, url }: Pick<Request, 'method' | 'url'>): AppError {
  const path = pathnameOf(url)
  const allowed = methods.flatMap((candidate) => {
    const route = routes.match(candidate, path)
    return route && (route.isOn?.() ?? true) ? [{ method: candidate, route }] : []
  })
  if (allowed.length === 0) return noSuchPath()
  const methodNames = allowed.map(({ method }) => method)
  const others = [
    ...(methodNames.includes('GET') ? ['HEAD'] : []),
    // A refused preflight belongs to a fixed path beside one with a parameter.
    ...(method !== 'OPTIONS' && allowed.some(({ route }) => isForBrowsers(route.access)) ? ['OPTIONS'] : []),
  ]
  return new AppError('METHOD_NOT_ALLOWED', `Method not allowed; allowed: ${methodNames.join(', ')}`, {
    allow: [...methodNames, ...others],
  })
}
