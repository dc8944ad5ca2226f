import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { type AppError, invalidField } from '../core/errors.ts'
import { minorUnits } from '../core/schema.ts'
import { isMoneySchema } from '../lib/money.ts'
import { moneyRule, shortPath } from './schema-shape.ts'

/** The used fields of TypeBox errors. `errors` has the violations of each option of a union. */
type Violation = {
  readonly path: string
  readonly type: ValueErrorType
  readonly value: unknown
  readonly schema: {
    readonly rule?: string
    readonly properties?: object
    readonly const?: unknown
    readonly anyOf?: readonly { readonly const?: unknown; readonly type?: unknown }[]
    readonly [limit: string]: unknown
  }
  readonly errors?: readonly { First(): Violation | undefined }[]
}

/** Returns the error of the first violation of a schema: its field and rule, but never its value. */
export function validationError(error: ValueError): AppError {
  const { path, violation } = enterNullable(error as unknown as Violation)
  const field = shortPath(path.split('/').filter(Boolean))
  if (violation.value === undefined) return invalidField(field, 'required', { code: 'missing_field' })
  return invalidField(field, ruleOf(violation))
}

/** Enters a nullable field's other option: an optional field may be null in the documents, not in the rule. */
function enterNullable(violation: Violation): { path: string; violation: Violation } {
  const options = violation.schema.anyOf
  if (!options || options.every((option) => 'const' in option)) return { path: violation.path, violation }
  const others = options.flatMap(({ type }, at) => (type === 'null' ? [] : [violation.errors?.[at]?.First()]))
  return others.length === 1 && others[0] ? enterNullable(others[0]) : { path: violation.path, violation }
}

const s = (count: unknown) => (count === 1 ? '' : 's')

function ruleOf({ type, schema }: Violation): string {
  const words = schema.anyOf?.flatMap((option) => (option.const === undefined ? [] : [String(option.const)])) ?? []
  if (words.length > 0 && words.length === schema.anyOf?.length) return `must be one of ${words.join(', ')}`
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, exclusiveMinimum } = schema as Record<string, unknown>
  switch (type) {
    case ValueErrorType.StringPattern:
    case ValueErrorType.StringFormat:
      return `must be ${schema.rule ?? 'of another form'}`
    case ValueErrorType.String:
      return 'must be a string'
    case ValueErrorType.StringMinLength:
      return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`
    case ValueErrorType.StringMaxLength:
      return `must have at most ${maxLength} character${s(maxLength)}`
    case ValueErrorType.Object:
      return isMoneySchema(schema) ? moneyRule : 'must be an object'
    case ValueErrorType.ObjectMinProperties:
      return 'must have at least one field'
    case ValueErrorType.ObjectMaxProperties:
      return `must have at most ${schema['maxProperties']} fields`
    case ValueErrorType.Array:
      return 'must be a list'
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${minItems} entr${minItems === 1 ? 'y' : 'ies'}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${maxItems} entr${maxItems === 1 ? 'y' : 'ies'}`
    case ValueErrorType.ArrayUniqueItems:
      return 'must not repeat an entry'
    case ValueErrorType.Integer:
      return schema['description'] === minorUnits ? 'must be a whole number of minor units: 12.50 USD is 1250' : 'must be a whole number'
    case ValueErrorType.Number:
      return 'must be a number'
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      if (minimum === undefined) return `must be at most ${maximum}`
      return maximum === undefined ? `must be at least ${minimum}` : `must be between ${minimum} and ${maximum}`
    case ValueErrorType.NumberExclusiveMinimum:
    case ValueErrorType.IntegerExclusiveMinimum:
      return `must be more than ${exclusiveMinimum}`
    case ValueErrorType.NumberExclusiveMaximum:
    case ValueErrorType.IntegerExclusiveMaximum:
      return `must be less than ${schema['exclusiveMaximum']}`
    case ValueErrorType.Boolean:
      return 'must be true or false'
    case ValueErrorType.Null:
      return 'must be null'
    case ValueErrorType.Literal:
      return `must be ${schema.const}`
    default:
      return 'must be of another form'
  }
}
