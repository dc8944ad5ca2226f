/** What is undefined may as well be left out. */
export type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined }
/** A record as `defined` leaves it. */
export type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

// Written out: every answer and every changed row is made by these, and lists of entries cost more than the records.

/** The named fields of a record, in this order, and nothing else of it. */
export function pick<Fields extends object, Name extends keyof Fields>(record: Fields, ...names: readonly Name[]): Pick<Fields, Name> {
  const picked = {} as Pick<Fields, Name>
  for (const name of names) picked[name] = record[name]
  return picked
}

/** A record without what is undefined. */
export function defined<Fields extends object>(record: Fields): Defined<Fields> {
  const kept: Defined<Fields> = {}
  for (const name of Object.keys(record) as (keyof Fields)[]) {
    const value = record[name]
    if (value !== undefined) kept[name] = value as Exclude<Fields[keyof Fields], undefined>
  }
  return kept
}

/** Times of a record (milliseconds) as ISO 8601, in the order of their names; null stays null. */
export function isoTimes<Times extends Record<string, number | null>>(times: Times) {
  const told: Record<string, string | null> = {}
  for (const name of Object.keys(times)) {
    const ms = times[name]
    told[name] = ms === null || ms === undefined ? null : new Date(ms).toISOString()
  }
  return told as { [Name in keyof Times]: Times[Name] extends number ? string : string | null }
}
