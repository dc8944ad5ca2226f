/**
 * Mutants that no test can tell from the source, each with the reason. `bun run mutate` prints survivors as they are to be
 * written here: `mutant` is the line of the source with the change in it. An entry without a survivor fails the run.
 */
export const equivalents: readonly { file: string; mutant: string; why: string }[] = [
  {
    file: 'src/lib/rounding.ts',
    mutant: 'if (denominator <= 0n) return divideHalfEven(-numerator, -denominator)',
    why: 'nothing can be divided by zero: it throws a RangeError either way',
  },
  {
    file: 'src/lib/decimal.ts',
    mutant: `const [, whole, decimals = '', exponent = ""] = /^(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d{1,3}))?$/.exec(text) ?? []`,
    why: 'Number("") is 0 too',
  },
  {
    file: 'src/lib/decimal.ts',
    mutant: `const [, whole, decimals = '', exponent = '0'] = /^(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d{1,3}))?$/.exec(text) ?? ["Stryker was here"]`,
    why: 'the first element is passed over',
  },
  {
    file: 'src/lib/decimal.ts',
    mutant: 'const tenTo = (exponent: number): bigint => (exponent >= 0 ? 10n ** BigInt(exponent) : 1n)',
    why: '10 to the 0 is 1',
  },
  {
    file: 'src/modules/fx/domain.ts',
    mutant: "if (false || !isCurrency(base)) return { problem: '`base` is not a currency' }",
    why: 'the type is asked for the compiler: what is no text is no currency either',
  },
  {
    file: 'src/modules/fx/domain.ts',
    mutant: "if (false || !isDay(date)) return { problem: '`date` is not a day' }",
    why: 'the type is asked for the compiler: what is no text is no day either',
  },
  {
    file: 'src/modules/fx/domain.ts',
    mutant:
      "const digits = (_: string, value: unknown, context?: { source?: string }) => (typeof value === 'number' ? context.source : value)",
    why: 'Bun always gives the context; the compiler does not know of it',
  },
  { file: 'src/modules/fx/domain.ts', mutant: '} catch {}', why: 'a function that ends returns undefined' },
  { file: 'src/modules/gift-card/domain.ts', mutant: 'return a.id <= b.id ? -1 : 1', why: 'no two cards have the same id' },
]
