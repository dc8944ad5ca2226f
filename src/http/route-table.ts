import type { TSchema } from '@sinclair/typebox'
import { AppError } from '../core/errors.ts'
import type { Access } from './access-rules.ts'

/** What a route takes in place of JSON: media types in small letters, and how much of it. */
export type UploadRule = { readonly types: readonly string[]; readonly bytesMax: number }

/** What a route states besides its handler. */
export type StatedRoute = {
  /** As it was declared: `/cart/:id`. */
  readonly path: string
  readonly access?: Access | undefined
  /** Whether the route exists at the moment. */
  readonly isOn?: (() => boolean) | undefined
  readonly upload?: UploadRule | undefined
  /** The schema of its body, for what has to look at a body before Elysia does; see shape.ts. */
  readonly body?: TSchema | undefined
}

/** A route as Elysia lists it. The macros leave what they were told in `detail`. */
export type DeclaredRoute = { readonly method: string; readonly path: string; readonly hooks: { detail?: unknown; body?: unknown } }
type StatedDetail = { 'x-access'?: Access; 'x-while'?: () => boolean; 'x-upload'?: UploadRule }

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
  const groupOf = (method: string, segments: readonly string[]) => `${method} ${segments.length}`

  return {
    fill(declared) {
      routes.clear()
      candidates.clear()
      for (const { method, path, hooks } of declared.toSorted((a, b) => (parametersLast(a.path) < parametersLast(b.path) ? -1 : 1))) {
        const { 'x-access': access, 'x-while': isOn, 'x-upload': upload } = (hooks.detail ?? {}) as StatedDetail
        const route = { path, access, isOn, upload, body: typeof hooks.body === 'object' ? (hooks.body as TSchema) : undefined }
        const segments = path.split('/')
        const group = groupOf(method, segments)
        routes.set(`${method} ${path}`, route)
        candidates.set(group, [...(candidates.get(group) ?? []), { segments, route }])
      }
    },
    get: (method, path) => routes.get(`${method} ${path}`),
    match(method, pathname) {
      const path = pathname.split('/')
      return candidates.get(groupOf(method, path))?.find(({ segments }) => fits(segments, path))?.route
    },
  }
}

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

/** Says that no route answers here; also of one that is switched off. */
export const noSuchPath = () => new AppError('NOT_FOUND', 'There is nothing at this path')
