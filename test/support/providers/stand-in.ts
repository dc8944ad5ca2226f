/**
 * A stand-in for a provider of the operations pages. Validates requests and responses by the provider's API
 * description.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Ajv, type ValidateFunction } from 'ajv'

type Schema = Record<string, unknown>
export type Description = { source: string; operations: Record<string, { query?: Schema; body?: Schema; answer: Schema }> }
export type ReceivedRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: unknown
  text: string
}
/** The response of an operation. */
export type SentResponse = { operation: string; status?: number; headers?: Record<string, string>; json: unknown }

/** Faults of the server, with a pattern of the resulting error message. */
export const faults = {
  refused: /refused/,
  missing: /status 404/,
  throttled: /asked too often/,
  broken: /status 500/,
  overloaded: /status 503/,
  garbage: /not JSON/,
  page: /not JSON/,
  half: /connection failed/,
  cut: /connection failed/,
  long: /answer too large/,
  slow: /timeout/,
  silent: /timeout/,
  redirect: /redirect/,
  otherForm: /makes no sense/,
} as const
export type Fault = keyof typeof faults

export type StandIn = {
  url: string
  /** The fault, and the number of the first call with it; undefined for no fault. */
  fault: { kind: Fault; from: number } | undefined
  /** All received requests. */
  readonly requests: ReceivedRequest[]
  /** Requests and responses that violate the description. */
  readonly breaches: string[]
  close(): Promise<void>
}

export type StandInOptions = {
  description: Description
  answer: (requests: ReceivedRequest) => SentResponse
  /** The response to a throttled call. */
  throttled: { status: number; headers?: Record<string, string>; json: unknown }
  contentType?: string
  /** Path of a Unix socket to listen on, instead of a port. */
  socket?: string
}

/** Converts a query to an object. Parameters that the schema declares as arrays become arrays. */
const queryObject = (schema: Schema, query: URLSearchParams): Schema => {
  const kinds = (schema['properties'] ?? {}) as Record<string, { type?: string }>
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const all = query.getAll(name)
      return [name, kinds[name]?.type === 'array' ? all : all.length === 1 ? all[0] : all]
    }),
  )
}

// Numbers in a query are text and are converted. Numbers in a response must be numbers.
const [lenient, strict] = [new Ajv({ strict: false, coerceTypes: true }), new Ajv({ strict: false })]
/** Cache, because compiling takes most of the time. */
const compiled = new Map<object, ValidateFunction>()

function validatorOf(schema: Schema, ajv: Ajv): ValidateFunction {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  return validate
}

export async function startStandIn({
  description,
  answer,
  throttled,
  contentType = 'application/json',
  socket,
}: StandInOptions): Promise<StandIn> {
  for (const { query, body, answer: told } of Object.values(description.operations)) {
    if (query) validatorOf(query, lenient)
    for (const schema of [body, told]) if (schema) validatorOf(schema, strict)
  }
  const check = (what: string, schema: Schema | undefined, value: unknown, ajv = strict) => {
    if (!schema) return
    const validate = validatorOf(schema, ajv)
    if (!validate(value)) standIn.breaches.push(`${what}: ${ajv.errorsText(validate.errors)}`)
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const url = new URL(request.url ?? '', 'http://stand-in')
    const body = text === '' ? undefined : JSON.parse(text)
    const requests = { method: request.method ?? '', path: url.pathname, query: url.searchParams, headers: request.headers, body, text }
    standIn.requests.push(requests)
    const { fault } = standIn
    if (fault && standIn.requests.length >= fault.from) return sendFault(response, fault.kind)
    const { operation, status = 200, headers = {}, json } = answer(requests)
    const operationRules = description.operations[operation]
    if (!operationRules) standIn.breaches.push(`no operation ${operation}`)
    check(`what ${operation} was asked`, operationRules?.query, queryObject(operationRules?.query ?? {}, url.searchParams), lenient)
    check(`what ${operation} was sent`, operationRules?.body, body)
    if (status === 200) check(`what ${operation} told`, operationRules?.answer, json)
    response.writeHead(status, { 'content-type': contentType, ...headers }).end(status === 304 ? undefined : JSON.stringify(json))
  }

  function sendFault(response: ServerResponse, kind: Fault): void {
    const head = (status: number, more: Record<string, string> = {}) => response.writeHead(status, { 'content-type': contentType, ...more })
    const responses: Record<Fault, () => void> = {
      refused: () => head(401).end('{"message":"bad credentials"}'),
      missing: () => head(404).end('{}'),
      throttled: () => head(throttled.status, throttled.headers).end(JSON.stringify(throttled.json)),
      broken: () => head(500).end('{"message":"secret inside"}'),
      overloaded: () => head(503, { 'retry-after': '7' }).end(''),
      garbage: () => head(200).end('{"services": [tru'),
      page: () => head(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
      half: () => void head(200, { 'content-length': '1000' }).write('[{"a":', () => response.socket?.destroy()),
      cut: () => void response.socket?.destroy(),
      long: () => head(200).end(`[${'1,'.repeat(3 * 1024 * 1024)}1]`),
      slow: () => void head(200, { 'content-length': '1000' }).write('['),
      silent: () => undefined,
      redirect: () => head(302, { location: 'http://127.0.0.1:1/' }).end(),
      otherForm: () => head(200).end('{"unexpected": 1}'),
    }
    responses[kind]()
  }

  const server = createServer(
    (request, response) => void handle(request, response).catch((error: Error) => standIn.breaches.push(error.message)),
  )
  await new Promise<void>((resolve) => (socket ? server.listen(socket, resolve) : server.listen(0, '127.0.0.1', resolve)))
  const standIn: StandIn = {
    url: socket ? '' : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: undefined,
    requests: [],
    breaches: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return standIn
}
