/** What is undefined may as well be left out. */
export type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined }
/** A record as `defined` leaves it. */
export type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** The named fields of a record, in this order, and nothing else of it. */
export const pick = <Fields extends object, Name extends keyof Fields>(record: Fields, ...names: readonly Name[]): Pick<Fields, Name> =>
  Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<Fields, Name>

/** A record without what is undefined. */
export const defined = <Fields extends object>(record: Fields): Defined<Fields> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Defined<Fields>

/** Times of a record (milliseconds) as ISO 8601, in the order of their names; null stays null. */
export const isoTimes = <Times extends Record<string, number | null>>(times: Times) =>
  Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, ms === null ? null : new Date(ms).toISOString()])) as {
    [Name in keyof Times]: Times[Name] extends number ? string : string | null
  }
