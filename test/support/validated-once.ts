/**
 * Shares validators between the apps of the tests: Elysia compiles those of a route at its first request in each app,
 * which is slow. Equal schemas with equal options get the same validator.
 */
import { mock } from 'bun:test'
import { dirname, join } from 'node:path'

type Options = Readonly<Record<string, unknown>> & {
  readonly models?: object
  readonly modules?: { readonly $defs?: object }
  readonly validators?: readonly unknown[]
  readonly sanitize?: () => unknown
}
type Make = (schema: unknown, options?: Options) => unknown

const file = join(dirname(Bun.resolveSync('elysia', import.meta.dir)), 'schema.mjs')
const real = { ...(await import(file)) }
const make: Make = real.getSchemaValidator
const validatorCache = new WeakMap<object, { asked: Readonly<Record<string, unknown>>; made: unknown }[]>()

const isEmpty = (value: object | undefined) => Object.keys(value ?? {}).length === 0
const isSame = (a: unknown, b: unknown) => a === b || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0)

function getSharedValidator(schema: unknown, options: Options = {}): unknown {
  const { models, modules, validators, sanitize, ...asked } = options
  // Validators with models or hooks of an app are not shared. The routes use none.
  const hasAppOptions = !isEmpty(models) || !isEmpty(modules?.$defs) || validators?.some(Boolean) || sanitize?.() !== undefined
  if (typeof schema !== 'object' || schema === null || hasAppOptions) return make(schema, options)
  const all = validatorCache.get(schema) ?? []
  validatorCache.set(schema, all)
  const found = all.find((one) => Object.keys({ ...one.asked, ...asked }).every((name) => isSame(one.asked[name], asked[name])))
  if (found) return found.made
  const made = make(schema, options)
  all.push({ asked, made })
  return made
}

mock.module(file, () => ({ ...real, getSchemaValidator: getSharedValidator }))
