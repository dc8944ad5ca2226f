/** Levels in ascending order. A log writes its own level and those after it. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
type LogLevel = (typeof logLevels)[number]
/** Writes one event. Its name has the form `subject.verb` and is constant, so that it can be searched for. */
export type Log = Record<LogLevel, (event: string, fields?: Record<string, unknown>) => void>

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const secretName =
  /pass(word|phrase)?$|password|secret|token|authorization|cookie|api[-_]?key|private[-_]?key|encryption|sealed|^jwt$|mnemonic/i
const secretValue = /\b(?:pk|sk|rk)_(?:live|test)_[0-9A-Za-z]+|\bwhsec_[\w+/=-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]+|\$argon2[a-z]*\$\S+/g
/** `scheme://user:password@host` */
const urlPassword = /\b([a-z][a-z\d+.-]*:\/\/[^\s:/?#@]*):[^\s@]+@/gi
const urlSecret = /([?&](?:[\w-]*(?:token|secret|password|key|signature)|sig)=)[^&\s#"']+/gi
/** The message of a failed query contains its parameters: hashes, sealed secrets, e-mail addresses. */
const queryParameters = /\nparams: [\s\S]*?(?=\n {4}at |$)/
const textLengthMax = 4_000

/**
 * Creates a log that writes one JSON line per event. Values that are secret by name or form are redacted.
 * @param requestId id of the current request, added to each line
 */
export function createLog(
  level: LogLevel,
  now: () => number,
  writeLine: (line: string) => void,
  requestId: () => string | undefined = () => undefined,
): Log {
  const at =
    (one: LogLevel) =>
    (event: string, fields: Record<string, unknown> = {}) => {
      if (order[one] < order[level]) return
      const id = requestId()
      const request = id === undefined ? {} : { requestId: id }
      writeLine(JSON.stringify({ time: new Date(now()).toISOString(), level: one, event, ...request, ...(redact(fields) as object) }))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Copies a value for the log: secrets redacted, errors as text, depth and length bounded. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Error)
    return {
      name: value.name,
      message: redact(value.message),
      stack: redact(value.stack ?? ''),
      ...(value.cause && depth < 4 ? { cause: redact(value.cause, depth + 1) } : {}),
    }
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  if (depth > 4) return '…'
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redact(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, secretName.test(name) ? '***' : redact(item, depth + 1)]))
}

function redactText(text: string): string {
  // Cut twice: secrets must be complete to be found, and long texts must not be searched.
  const plain = text.slice(0, 2 * textLengthMax).replace(queryParameters, '')
  return plain.replace(secretValue, '***').replace(urlPassword, '$1:***@').replace(urlSecret, '$1***').slice(0, textLengthMax)
}
