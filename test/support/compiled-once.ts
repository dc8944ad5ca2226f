/**
 * Every app of the tests compiles the schemas of its routes anew: here what was compiled of a schema stands for as long as it reads the same.
 * Elysia adds to what it is given, so each caller has an object of its own.
 */
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

type Compiled = ReturnType<typeof TypeCompiler.Compile>

const known = new WeakMap<TSchema, Map<string, Compiled>>()
const compile = TypeCompiler.Compile

const copyOf = (compiled: Compiled): Compiled => Object.assign(Object.create(Object.getPrototypeOf(compiled)), compiled)

TypeCompiler.Compile = <Schema extends TSchema>(schema: Schema, references: TSchema[] = []) => {
  if (references.length > 0) return compile(schema, references)
  const reading = JSON.stringify(schema)
  const readings = known.get(schema) ?? new Map<string, Compiled>()
  known.set(schema, readings)
  const found = readings.get(reading) ?? compile(schema)
  readings.set(reading, found)
  return copyOf(found) as ReturnType<typeof compile<Schema>>
}
