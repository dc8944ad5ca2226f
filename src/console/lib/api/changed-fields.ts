const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Of what would be sent that which differs from what is there: what is left out of a change stays as it is. */
export const pickChanges = <Of extends object>(body: Of, before: { readonly [Name in keyof Of]: unknown }): Partial<Of> =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => !same(value, before[name as keyof Of]))) as Partial<Of>

/** Of what would be sent that which says something: of a new record nothing needs to be said of what is null. */
export const withoutNulls = <Of extends object>(body: Of): Of =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as Of
