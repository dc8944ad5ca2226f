/** Generates requests to an operation of the OpenAPI document, for the fuzzer. */
import fc from 'fast-check'
import type { Operation } from '../../src/http/openapi.ts'
import type { Schema } from '../../src/http/openapi-schema.ts'
import { brokenValue, garbageValue, type Hints, marker, validValue } from './fuzz-values.ts'
import { drawPng } from './pictures.ts'

export type RequestDraft = {
  path: string
  headers: Record<string, string>
  body: { json: unknown } | { raw: string | Uint8Array<ArrayBuffer>; type: string } | undefined
}
export type Target = { method: string; path: string; operation: Operation }

type Parameter = NonNullable<Operation['parameters']>[number]

/** Generates requests that the document allows. */
export function allowedRequests({ path, operation }: Target, hints: Hints): fc.Arbitrary<RequestDraft> {
  const { parameters = [], requestBody } = operation
  const [media = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const json = content ? validValue(content.schema, hints) : fc.constant(undefined)
  const body =
    media in uploaded
      ? fc.constantFrom(...(uploaded[media] ?? [])).map((raw) => ({ raw, type: media }))
      : content
        ? json.map((value) => ({ json: value }))
        : fc.constant(undefined)
  return fc
    .record({ values: fc.tuple(...parameters.map((one) => parameterValue(one, hints))), body })
    .map(({ values, body: sent }) => draft(path, parameters, values, sent))
}

/** Generates requests with an error in parameters, body, query or headers. A few happen to be valid. */
export function invalidRequests(target: Target, hints: Hints): fc.Arbitrary<RequestDraft> {
  const { path, operation } = target
  const { parameters = [] } = operation
  const schema = operation.requestBody?.content['application/json']?.schema
  const wrongValues = fc.tuple(
    ...parameters.map((one) => fc.oneof({ weight: 2, arbitrary: parameterValue(one, hints) }, { weight: 1, arbitrary: wrongText })),
  )
  const wrongBody = schema
    ? fc.oneof(
        { weight: 3, arbitrary: brokenValue(validValue(schema, hints)).map((json) => ({ json })) },
        { weight: 1, arbitrary: wrongBytes },
      )
    : fc.option(wrongBytes, { nil: undefined })
  const whole = allowedRequests(target, hints)
  const requests = fc.oneof(
    fc.record({ values: wrongValues, rest: whole }).map(({ values, rest }) => draft(path, parameters, values, rest.body)),
    fc.record({ rest: whole, body: wrongBody }).map(({ rest, body }) => ({ ...rest, body })),
    fc.record({ values: wrongValues, body: wrongBody }).map(({ values, body }) => draft(path, parameters, values, body)),
    fc
      .record({ rest: whole, extra: oddQuery })
      .map(({ rest, extra }) => ({ ...rest, path: `${rest.path}${rest.path.includes('?') ? '&' : '?'}${extra}` })),
  )
  return fc
    .record({ request: requests, extra: oddHeaders })
    .map(({ request, extra }) => ({ ...request, headers: { ...request.headers, ...extra } }))
}

/** Headers that the document may not declare. */
const oddHeaders = fc.constantFrom<Record<string, string>>(
  {},
  {},
  { 'if-none-match': '*' },
  { origin: 'https://elsewhere.example' },
  { origin: 'null', accept: 'text/html' },
  { 'x-forwarded-for': '203.0.113.9, nonsense' },
  { 'x-request-id': `${marker} with spaces` },
  { 'idempotency-key': `${marker} with spaces` },
  { 'idempotency-key': 'k'.repeat(300) },
  { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' },
  { cookie: `a=${marker}`, authorization: `Basic ${marker}` },
)

const files = [
  'Handle,Title,Variant Price\nlamp,Lamp,12.50\n',
  'URL handle,Title,Price\nvase,Vase,9\n',
  `Title\n${'x'.repeat(50)}\n`,
  'Title,Variant Price\nA,abc\n',
  '"\n',
  '\ufeffTitle\nB\n',
  'Email,First Name,Phone\nfuzz@example.com,Fuzz,1\n',
  'merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt\nmer_1,lend_1,L-1,DEFAULT,1,2025-12-01,\n',
]

const documents = ['%PDF-1.7\n', `%PDF-1.4\n${'x'.repeat(100_000)}`, '%PDF-2.0\n%%EOF\n']

/** Files to upload, by media type. */
const uploaded: Record<string, readonly (string | Uint8Array<ArrayBuffer>)[]> = {
  'text/csv': files,
  'application/pdf': documents,
  'image/jpeg': [drawPng(), drawPng(10, 200), drawPng(200, 30)],
}

const wrongText: fc.Arbitrary<unknown> = fc.oneof(
  garbageValue.filter((value) => typeof value !== 'object' || value === null),
  fc.constantFrom('%', '%zz', '%00', '..%2f', '0x10', '1e1', '-1', '1.5', '٣', ' 1', `${marker}`),
)

/** Bodies that are not a JSON object, or have another content type. */
const wrongBytes: fc.Arbitrary<RequestDraft['body']> = fc.constantFrom(
  { raw: '', type: 'application/json' },
  { raw: '{', type: 'application/json' },
  { raw: 'null', type: 'application/json' },
  { raw: `["${marker}"]`, type: 'application/json' },
  { raw: `"${marker}"`, type: 'application/json' },
  { raw: `{"a":${marker}}`, type: 'application/json' },
  { raw: '{"a":1,"a":2}', type: 'application/json; charset=utf-8' },
  { raw: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), type: 'application/json' },
  { raw: `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, type: 'application/json' },
  { raw: `{"a":[${'0,'.repeat(30_000)}0]}`, type: 'application/json' },
  { raw: `a=${marker}`, type: 'application/x-www-form-urlencoded' },
  { raw: `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${marker}\r\n--b--`, type: 'multipart/form-data; boundary=b' },
  { raw: marker, type: 'text/plain' },
  { raw: '{}', type: 'text/csv' },
  { raw: marker, type: 'application/pdf' },
  { raw: '', type: 'image/png' },
  { raw: `{"a":"${'x'.repeat(1_100_000)}"}`, type: 'application/json' },
)

const oddQuery = fc.constantFrom(
  'page=1&page=2',
  'limit[]=5',
  'limit=',
  'page',
  '__proto__=1',
  'constructor[prototype][a]=1',
  `q=${marker}%22%20AND`,
  'q=%C3%28',
  '&&&=',
  `unheard=${marker}`,
  'limit=999999999999999999999',
)

function parameterValue({ schema = {}, name, required }: Parameter, hints: Hints): fc.Arbitrary<unknown> {
  const value = validValue(schema as Schema, hints, name)
  return required ? value : fc.option(value, { nil: undefined })
}

function draft(path: string, parameters: readonly Parameter[], values: readonly unknown[], body: RequestDraft['body']): RequestDraft {
  const headers: Record<string, string> = {}
  const query: string[] = []
  let filled = path
  parameters.forEach((parameter, at) => {
    const value = values[at]
    if (value === undefined) return
    const text = String(value)
    if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, inPath(text))
    else if (parameter.in === 'query') query.push(`${parameter.name}=${encoded(text)}`)
    else headers[parameter.name] = headerSafe(text)
  })
  return { path: query.length > 0 ? `${filled}?${query.join('&')}` : filled, headers, body }
}

/** Leaves percent-encoded text unchanged, so that broken encodings are sent too. */
const encoded = (text: string) => (/^%|\.\.%/.test(text) ? text : encodeURIComponent(text.toWellFormed()))
/** Replaces an empty segment and segments of dots, which would change the path. */
const inPath = (text: string) => (/^\.{0,2}$/.test(text) ? 'none' : encoded(text))
/** Replaces characters that cannot be sent in a header. */
const headerSafe = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 4_000)
