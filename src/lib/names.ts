const numbersMax = 100

/**
 * A name that nobody has: the wanted one, else with the first free number behind it. Where one name is used over and over,
 * the end of the record's id makes it unique.
 * @param takenOf those of some names that somebody has
 */
export async function freeName(
  wanted: string,
  id: string,
  takenOf: (names: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  if (!(await takenOf([wanted])).has(wanted)) return wanted
  const numbered = Array.from({ length: numbersMax }, (_, at) => `${wanted}-${at + 1}`)
  const taken = await takenOf(numbered)
  return numbered.find((name) => !taken.has(name)) ?? `${wanted}-${id.slice(-12)}`
}

/** A sentence that ends with somebody's name: one that brings its own full stop (`Acme Co.`) gets no second one. */
export const sentenceEnd = (name: string): string => (/[.!?…。！？؟]["'”’»)\p{Cf}]*$/u.test(name) ? name : `${name}.`)
