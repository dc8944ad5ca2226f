/**
 * Generates `providers/*.json`: the APIs of the providers of the operations pages as JSON Schema, reduced to the
 * operations that souk uses, without the providers' texts. Run it again when souk uses another operation:
 *
 *   mkdir DIR; cd DIR; npm pack @aws-sdk/client-ecs@3.1164.0 @octokit/openapi@23.0.2 @sentry/api@0.1.0 @docker/node-sdk@0.0.17
 *   for FILE in *.tgz; do mkdir "${FILE%.tgz}"; tar xzf "$FILE" -C "${FILE%.tgz}" --strip-components=1; done
 *   bun test/data/describe-providers.ts DIR
 */
import { join } from 'node:path'
import ts from 'typescript-5'

type Schema = { [name: string]: unknown }
type Description = { source: string; operations: Record<string, { query?: Schema; body?: Schema; answer: Schema }> }

const [from = ''] = Bun.argv.slice(2)
/** Below this depth only the type of a value is described. */
const depthMax = 4

/** Returns a function that converts the types of a package's file to schemas. */
function typesOf(file: string): (name: string, ...path: string[]) => Schema {
  const program = ts.createProgram([join(from, file)], { strict: true, skipLibCheck: true, target: ts.ScriptTarget.ESNext })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(join(from, file))
  const moduleSymbol = source && checker.getSymbolAtLocation(source)
  if (!moduleSymbol) throw new Error(`no module: ${file}`)
  const named = new Map(checker.getExportsOfModule(moduleSymbol).map((symbol) => [symbol.name, symbol]))

  const propertyType = (type: ts.Type, step: string): ts.Type => {
    const property = checker.getPropertyOfType(checker.getNonNullableType(type), step)
    if (!property) throw new Error(`no ${step} in ${checker.typeToString(type)}`)
    return checker.getTypeOfSymbol(property)
  }

  function schemaOf(type: ts.Type, depth: number): Schema {
    const without = (flag: ts.TypeFlags) => (type.isUnion() ? type.types.filter((one) => !(one.flags & flag)) : [type])
    const present = without(ts.TypeFlags.Undefined)
    if (present.length > 1) {
      const isLiteral = (one: ts.Type) => one.isStringLiteral() || one.isNumberLiteral() || Boolean(one.flags & ts.TypeFlags.BooleanLiteral)
      if (present.every((one) => one.flags & ts.TypeFlags.BooleanLiteral)) return { type: 'boolean' }
      if (present.every((one) => isLiteral(one) && !(one.flags & ts.TypeFlags.BooleanLiteral)))
        return { enum: present.map((one) => (one as ts.StringLiteralType).value).sort() }
      const kinds = present.map((one) => schemaOf(one, depth))
      return { anyOf: [...new Map(kinds.map((kind) => [JSON.stringify(kind), kind])).values()] }
    }
    const [one = type] = present
    if (one.isStringLiteral() || one.isNumberLiteral()) return { const: one.value }
    if (one.flags & ts.TypeFlags.StringLike) return { type: 'string' }
    if (one.flags & ts.TypeFlags.NumberLike) return { type: 'number' }
    if (one.flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' }
    if (one.flags & ts.TypeFlags.Null) return { type: 'null' }
    // AWS sends times as seconds.
    if (one.symbol?.name === 'Date') return { type: ['number', 'string'] }
    if (checker.isArrayType(one)) {
      const [item] = checker.getTypeArguments(one as ts.TypeReference)
      return { type: 'array', ...(item && depth < depthMax ? { items: schemaOf(item, depth + 1) } : {}) }
    }
    if (!(one.flags & ts.TypeFlags.Object)) return {}
    if (depth >= depthMax) return { type: 'object' }
    const fields = checker.getPropertiesOfType(one)
    const index = checker.getIndexInfoOfType(one, ts.IndexKind.String)
    const of = (symbol: ts.Symbol) => checker.getTypeOfSymbol(symbol)
    const required = fields.filter((symbol) => !(symbol.flags & ts.SymbolFlags.Optional) && !isMaybe(of(symbol))).map(({ name }) => name)
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map((symbol) => [symbol.name, schemaOf(of(symbol), depth + 1)])),
      ...(required.length > 0 ? { required: required } : {}),
      ...(index ? { additionalProperties: schemaOf(index.type, depth + 1) } : {}),
    }
  }
  const isMaybe = (type: ts.Type) => type.isUnion() && type.types.some(({ flags }) => flags & ts.TypeFlags.Undefined)

  return (name, ...path) => {
    const symbol = named.get(name)
    if (!symbol) throw new Error(`no ${name} in ${file}`)
    return schemaOf(path.reduce(propertyType, checker.getDeclaredTypeOfSymbol(symbol)), 0)
  }
}

/** Refuses other parameters, such as misspelt ones. */
const closeSchema = (schema: Schema): Schema => ({ ...schema, additionalProperties: false })

async function ecs(): Promise<Description> {
  const shape = typesOf('aws-sdk-client-ecs-3.1164.0/dist-types/index.d.ts')
  const operation = (name: string) => ({ body: closeSchema(shape(`${name}Request`)), answer: shape(`${name}Response`) })
  return {
    source: '@aws-sdk/client-ecs 3.1164.0 (Apache-2.0)',
    operations: { ListServices: operation('ListServices'), DescribeServices: operation('DescribeServices') },
  }
}

async function docker(): Promise<Description> {
  const shape = typesOf('docker-node-sdk-0.0.17/lib/types/index.ts')
  const text = { type: 'string' }
  const query = (...names: string[]) => closeSchema({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, text])) })
  return {
    source: '@docker/node-sdk 0.0.17 (Apache-2.0)',
    operations: {
      'GET /services': { query: query('filters', 'status'), answer: { type: 'array', items: shape('Service') } },
      'GET /tasks': { query: query('filters'), answer: { type: 'array', items: shape('Task') } },
    },
  }
}

async function sentry(): Promise<Description> {
  const shape = typesOf('sentry-api-0.1.0/dist/types.gen.d.ts')
  const operation = (name: string) => ({ query: closeSchema(shape(`${name}Data`, 'query')), answer: shape(`${name}Responses`, '200') })
  const organization = '/api/0/organizations/{organization_id_or_slug}'
  return {
    source: '@sentry/api 0.1.0 (names and types of its interface)',
    operations: {
      [`GET ${organization}/projects/`]: operation('ListAnOrganizationSProjects'),
      [`GET ${organization}/issues/`]: operation('ListAnOrganizationSissues'),
      [`GET ${organization}/stats_v2/`]: operation('RetrieveEventCountsForAnOrganizationV2'),
    },
  }
}

type OpenApi = {
  paths: Record<string, { get: { parameters: Schema[]; responses: Record<string, { content: Record<string, { schema: Schema }> }> } }>
}

/** Converts OpenAPI 3.0 to JSON Schema, up to a depth. */
function reduceSchema(schema: Schema, depth = 0): Schema {
  const { type, nullable, properties, items, required, enum: values } = schema
  const parts = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Schema[] | undefined
  if (parts) {
    const kinds = parts.map((part) => reduceSchema(part, depth))
    return schema['allOf'] ? { allOf: kinds } : { anyOf: [...kinds, ...(nullable ? [{ type: 'null' }] : [])] }
  }
  const isDeep = depth >= depthMax - 1
  return {
    ...(type === undefined ? {} : { type: nullable ? [type, 'null'] : type }),
    ...(values ? { enum: nullable ? [...(values as unknown[]), null] : values } : {}),
    ...(properties && !isDeep
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, reduceSchema(one as Schema, depth + 1)])) }
      : {}),
    ...(required && !isDeep ? { required } : {}),
    ...(items && !isDeep ? { items: reduceSchema(items as Schema, depth + 1) } : {}),
  }
}

async function github(): Promise<Description> {
  const { paths } = (await Bun.file(join(from, 'octokit-openapi-23.0.2/generated/api.github.com.deref.json')).json()) as OpenApi
  const repository = '/repos/{owner}/{repo}'
  const usedPaths = [
    `${repository}/deployments`,
    `${repository}/deployments/{deployment_id}/statuses`,
    `${repository}/commits/{commit_sha}/pulls`,
    `${repository}/commits/{ref}`,
  ]
  const operation = (path: string) => {
    const { parameters, responses } = paths[path]?.get ?? { parameters: [], responses: {} }
    // Query parameters are sent as text, whatever type is documented.
    const query = parameters.filter((one) => one['in'] === 'query').map((one) => [one['name'], { type: 'string' }])
    const answer = responses['200']?.content['application/json']?.schema
    if (!answer) throw new Error(`no answer: ${path}`)
    return { query: closeSchema({ type: 'object', properties: Object.fromEntries(query) }), answer: reduceSchema(answer) }
  }
  return {
    source: '@octokit/openapi 23.0.2 (MIT)',
    operations: Object.fromEntries(usedPaths.map((path) => [`GET ${path}`, operation(path)])),
  }
}

for (const [name, describe] of Object.entries({ ecs, docker, sentry, github }))
  await Bun.write(join(import.meta.dir, 'providers', `${name}.json`), `${JSON.stringify(await describe())}\n`)
