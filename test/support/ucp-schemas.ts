/**
 * Validates responses to agents by the protocol's schemas of both releases. The schemas are outside of the repository.
 * Without them, tests that need them are skipped, and their titles say so.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import { capabilityNames, fullNameOf, type Release } from '../../src/lib/ucp/releases.ts'

type Schema = { readonly [name: string]: unknown }
export type UcpOperation = {
  readonly tool: string
  readonly rest: string
  readonly params: readonly string[]
  readonly keyRequired: boolean
  readonly created?: boolean
}
type Version = { readonly schemas: Readonly<Record<string, Schema>>; readonly operations: readonly UcpOperation[] }

const path = join(import.meta.dir, '../../../shared/ucp/schemas.json')
export const hasUcpSchemas = existsSync(path)
/** Ends the title of a test that is skipped without the schemas. */
export const ucpSkipNote = hasUcpSchemas ? '' : ' (skipped: ../shared/ucp/schemas.json is absent)'

let read: Readonly<Record<Release, Version>> | undefined
function versions(): Readonly<Record<Release, Version>> {
  read ??= (JSON.parse(readFileSync(path, 'utf8')) as { versions: Record<Release, Version> }).versions
  return read
}

/** The operations of a release, as the protocol lists them. */
export const ucpOperations = (release: Release): readonly UcpOperation[] => versions()[release].operations

/** Schemas by kind of response, relative to `https://ucp.dev/{release}/schemas/`. */
const answers = {
  checkout: 'shopping/checkout.json',
  cart: 'shopping/cart.json',
  order: 'shopping/order.json',
  search: 'shopping/catalog_search.json#/$defs/search_response',
  lookup: 'shopping/catalog_lookup.json#/$defs/lookup_response',
  product: 'shopping/catalog_lookup.json#/$defs/get_product_response',
} as const
export type UcpAnswerKind = keyof typeof answers

/** The kind of response of each operation, by its tool. */
const answerOf: Readonly<Record<string, UcpAnswerKind>> = {
  create_checkout: 'checkout',
  get_checkout: 'checkout',
  update_checkout: 'checkout',
  complete_checkout: 'checkout',
  cancel_checkout: 'checkout',
  create_cart: 'cart',
  get_cart: 'cart',
  update_cart: 'cart',
  cancel_cart: 'cart',
  search_catalog: 'search',
  lookup_catalog: 'lookup',
  get_product: 'product',
  get_order: 'order',
}

/** Field of a response that an extension adds, and its definitions in the extension's schema. */
const extensions = {
  fulfillment: { checkout: 'dev.ucp.shopping.checkout', field: 'fulfillment' },
  discount: { checkout: 'dev.ucp.shopping.checkout', cart: 'dev.ucp.shopping.cart', field: 'discounts' },
} as const

const formats = {
  'date-time': (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text: string) => URL.canParse(text) && /^[\x21-\x7e]+$/.test(text),
  email: (text: string) => text.includes('@'),
}
const validators = new Map<Release, Ajv2020>()
function ajvOf(release: Release): Ajv2020 {
  const existing = validators.get(release)
  if (existing) return existing
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats })
  for (const [id, schema] of Object.entries(versions()[release].schemas)) ajv.addSchema(schema as object, id)
  validators.set(release, ajv)
  return ajv
}

function validatorOf(release: Release, relative: string): ValidateFunction {
  const validate = ajvOf(release).getSchema(`https://ucp.dev/${release}/${relative}`)
  if (!validate) throw new Error(`the protocol has no schema ${relative} in ${release}`)
  return validate as ValidateFunction
}

/**
 * Returns the errors of a value under a schema.
 * @param relative the schema, relative to `https://ucp.dev/{release}/`, such as `schemas/shopping/order.json`
 */
export function breachesOf(release: Release, relative: string, value: unknown): string[] {
  const validate = validatorOf(release, relative)
  return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
}

/**
 * Returns the errors of a response: under the schemas of its operation and its active extensions, and fields of
 * inactive extensions. An error response is validated by the schema of errors.
 * @param operation the tool, such as `create_checkout`
 */
export function answerBreaches(release: Release, operation: string, answer: unknown): string[] {
  const kind = answerOf[operation]
  if (kind === undefined) return [`no such operation: ${operation}`]
  const { ucp, ...fields } = (answer ?? {}) as { ucp?: { version?: string; status?: string; capabilities?: Record<string, unknown> } }
  const version = ucp?.version === release ? [] : [`/ucp/version is ${ucp?.version}, not ${release}`]
  if (ucp?.status === 'error') {
    const error = release === '2026-04-08' ? 'schemas/shopping/types/error_response.json' : 'schemas/common/types/error_response.json'
    return [...version, ...breachesOf(release, error, answer)]
  }
  const names = Object.keys(ucp?.capabilities ?? {})
  const unknownCapabilities = names.filter((name) => !capabilityNames.some((capability) => fullNameOf(capability) === name))
  const extensionErrors = Object.entries(extensions).flatMap(([capability, extension]) => {
    if (!names.includes(`dev.ucp.shopping.${capability}`))
      // The `fulfillment` of an order belongs to no extension.
      return kind !== 'order' && extension.field in fields ? [`/${extension.field} is of an inactive capability`] : []
    const definition = kind === 'checkout' || kind === 'cart' ? (extension as Partial<Record<UcpAnswerKind, string>>)[kind] : undefined
    if (definition === undefined) return [`/ucp/capabilities names ${capability}, which does not extend a ${kind}`]
    return breachesOf(release, `schemas/shopping/${capability}.json#/$defs/${definition}`, answer)
  })
  return [
    ...version,
    ...unknownCapabilities.map((name) => `/ucp/capabilities names ${name}`),
    ...breachesOf(release, `schemas/${answers[kind]}`, answer),
    ...extensionErrors,
  ]
}

/**
 * Throws an error unless a response is valid in its release. Does nothing if the schemas are absent.
 * @param operation the tool, such as `create_checkout`
 */
export function assertUcpAnswer(release: Release, operation: string, answer: unknown): void {
  if (!hasUcpSchemas) return
  const breaches = [...new Set(answerBreaches(release, operation, answer))]
  if (breaches.length > 0) throw new Error(`${operation} in ${release}:\n${breaches.join('\n')}\n${JSON.stringify(answer, null, 1)}`)
}

/** Returns the errors of a shop's profile. */
export const profileBreaches = (release: Release, profile: unknown): string[] =>
  breachesOf(
    release,
    release === '2026-04-08' ? 'discovery/profile_schema.json#/$defs/business_profile' : 'schemas/profile.json#/$defs/business_schema',
    profile,
  )
