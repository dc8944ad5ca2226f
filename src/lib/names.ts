const numbersMax = 100

/**
 * Returns a free name: the wanted one, or the first free number appended. If all numbers are taken, the end of the
 * record's id is appended.
 * @param takenOf returns which of the names are taken
 */
export async function freeName(
  preferred: string,
  id: string,
  takenOf: (names: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  if (!(await takenOf([preferred])).has(preferred)) return preferred
  const numbered = Array.from({ length: numbersMax }, (_, at) => `${preferred}-${at + 1}`)
  const takenNames = await takenOf(numbered)
  return numbered.find((name) => !takenNames.has(name)) ?? `${preferred}-${id.slice(-12)}`
}

/** Ends a sentence with a name: a name with its own full stop (`Acme Co.`) gets no second one. */
export const sentenceEnd = (name: string): string => (/[.!?…。！？؟]["'”’»)\p{Cf}]*$/u.test(name) ? name : `${name}.`)
