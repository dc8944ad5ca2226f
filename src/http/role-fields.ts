/** Response fields that only some roles see, such as the link of a payout. */
import type { TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import type { Principal } from '../core/principal.ts'
import { managers, type StaffRole } from '../core/roles.ts'

const mark = 'x-roles'

/**
 * Marks a field as a bearer secret. Among merchants only OWNER and MANAGER see it; customers and API keys see it as
 * returned.
 */
export const forManagers = <Schema extends TSchema>(schema: Schema) => t.Optional({ ...schema, [mark]: managers })

/** Positions of the marked fields in a response; `true` is such a field. */
export type RoleFields = true | { readonly items: RoleFields } | { readonly properties: ReadonlyMap<string, RoleFields> }

/** Finds the marked fields of a response schema; undefined if there are none. */
export function roleFieldsOf(schema: TSchema): RoleFields | undefined {
  if (mark in schema) return true
  const { items, properties = {}, anyOf = [] } = schema as { items?: TSchema; properties?: Record<string, TSchema>; anyOf?: TSchema[] }
  if (items) {
    const found = roleFieldsOf(items)
    return found && { items: found }
  }
  const found = new Map<string, RoleFields>()
  for (const [name, property] of Object.entries(properties)) {
    const inner = roleFieldsOf(property)
    if (inner) found.set(name, inner)
  }
  if (found.size > 0) return { properties: found }
  // A nullable record.
  for (const one of anyOf) {
    const inner = roleFieldsOf(one)
    if (inner) return inner
  }
  return undefined
}

/** Returns whether this caller does not see marked fields. */
export const hidesSecrets = (principal: Principal | undefined): boolean =>
  principal?.kind === 'merchant' && principal.role !== undefined && !(managers as readonly StaffRole[]).includes(principal.role)

/** Copies a response without the marked fields. */
export function omitSecrets(value: unknown, fields: RoleFields): unknown {
  if (fields === true || value === null || typeof value !== 'object') return value
  if ('items' in fields) return Array.isArray(value) ? value.map((one) => omitSecrets(one, fields.items)) : value
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const found = fields.properties.get(name)
    return found === true ? [] : [[name, found ? omitSecrets(inner, found) : inner]]
  })
  return Object.fromEntries(entries)
}
