/** Compares values that JSON can hold. */
export const isSameJson = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Returns the fields of a body that differ from the stored record, for `PATCH`. */
export const pickChanges = <Of extends object>(body: Of, before: { readonly [Name in keyof Of]?: unknown }): Partial<Of> =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => !isSameJson(value, before[name as keyof Of]))) as Partial<Of>

/** Returns the fields of a body that are not null, for a new record. */
export const withoutNulls = <Of extends object>(body: Of): Of =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as Of
