import { isRecord } from '../../../lib/json.ts'

/** Serializes a JSON value with the fields of objects in one order, so that equal values are equal text. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )

const frozenTexts = new WeakMap<object, { json: string; quoted?: string }>()

/** Serializes an answer; a frozen one, which is cached, only once. */
export function jsonOf(answer: object): string {
  const entry = frozenTexts.get(answer)
  if (entry) return entry.json
  const json = JSON.stringify(answer)
  if (Object.isFrozen(answer)) frozenTexts.set(answer, { json })
  return json
}

/** Serializes the text of an answer as a JSON string. */
function quotedJsonOf(answer: object): string {
  const json = jsonOf(answer)
  const entry = frozenTexts.get(answer)
  const quoted = entry?.quoted ?? JSON.stringify(json)
  if (entry) entry.quoted = quoted
  return quoted
}

/** Serializes the result of a tool call: its answer as text and as structured content, and further fields. */
export const toolResultJson = (answer: object, further: object): string =>
  `{"content":[{"type":"text","text":${quotedJsonOf(answer)}}],"structuredContent":${jsonOf(answer)},${JSON.stringify(further).slice(1)}`
