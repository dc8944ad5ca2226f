/** Compares values that JSON can hold. */
export const isSameJson = (value: unknown, other: unknown) => JSON.stringify(value) === JSON.stringify(other)

/** Returns the fields of a body that differ from the stored record, for `PATCH`. */
export const pickChanges = <Body extends object>(body: Body, before: { readonly [Name in keyof Body]?: unknown }): Partial<Body> =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => !isSameJson(value, before[name as keyof Body]))) as Partial<Body>

/** Returns the fields of a body that are not null, for a new record. */
export const withoutNulls = <Body extends object>(body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as Body
