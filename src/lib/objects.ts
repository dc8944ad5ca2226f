/** Fields that may be missing or undefined. */
export type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined }
/** The result of `withoutUndefined`. */
export type WithoutUndefined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

// Loops instead of entries: every response uses these functions, and lists of entries cost more than the records.

/** Returns the named fields of a record, in this order. */
export function pick<Fields extends object, Name extends keyof Fields>(record: Fields, ...names: readonly Name[]): Pick<Fields, Name> {
  const picked = {} as Pick<Fields, Name>
  for (const name of names) picked[name] = record[name]
  return picked
}

/** Returns a record without undefined fields. */
export function withoutUndefined<Fields extends object>(record: Fields): WithoutUndefined<Fields> {
  const defined: WithoutUndefined<Fields> = {}
  for (const name of Object.keys(record) as (keyof Fields)[]) {
    const value = record[name]
    if (value !== undefined) defined[name] = value as Exclude<Fields[keyof Fields], undefined>
  }
  return defined
}

/** Formats the times of a record (milliseconds) as ISO 8601; null stays null. */
export function isoTimes<Times extends Record<string, number | null>>(times: Times) {
  const formatted: Record<string, string | null> = {}
  for (const name of Object.keys(times)) {
    const ms = times[name]
    formatted[name] = ms === null || ms === undefined ? null : new Date(ms).toISOString()
  }
  return formatted as { [Name in keyof Times]: Times[Name] extends number ? string : string | null }
}

/** Converts a number of a raw query. */
export const numberOrUndefined = (value: number | string | null | undefined) =>
  value === null || value === undefined ? undefined : Number(value)

/** Compares values that JSON can hold, with their fields in the same order. */
export const isSameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
