import type { TSchema } from '@sinclair/typebox'
import { AppError } from '../core/errors.ts'

/**
 * Refuses a text where an object belongs, and an object where a list belongs, before Elysia strips unknown fields: its
 * stripping takes the kinds for granted, makes `{}` of a text, and counts to the `length` that a caller's object claims.
 * All other rules are the schema's own check, which comes later.
 * @throws AppError INVALID
 */
export function assertShape(schema: TSchema, value: unknown, path: readonly string[] = []): void {
  if (value === undefined) return
  const options: TSchema[] | undefined = schema['anyOf']
  if (options) {
    const fitting = options.find((option) => fits(option, value))
    if (fitting) assertShape(fitting, value, path)
    else if (options.every(isContainer)) throw expected(options[0], path)
    return
  }
  for (const part of (schema['allOf'] as TSchema[] | undefined) ?? []) assertShape(part, value, path)
  if (!isContainer(schema)) return
  if (!fits(schema, value)) throw expected(schema, path)
  if (Array.isArray(value)) value.forEach((item, at) => void assertShape(schema['items'], item, [...path, String(at)]))
  else
    for (const [name, property] of Object.entries((schema['properties'] as Record<string, TSchema> | undefined) ?? {}))
      assertShape(property, (value as Record<string, unknown>)[name], [...path, name])
}

const isContainer = (schema: TSchema): boolean => schema['type'] === 'object' || schema['type'] === 'array'

function fits(schema: TSchema, value: unknown): boolean {
  if (schema['type'] === 'array') return Array.isArray(value)
  if (schema['type'] === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value !== 'object' || (value === null) === (schema['type'] === 'null')
}

const expected = (schema: TSchema | undefined, path: readonly string[]) =>
  new AppError('INVALID', `${path.join('.') || 'body'} (body): Expected ${schema?.['type']}`)
