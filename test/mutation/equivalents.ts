/**
 * Mutants that behave like the source, each with the reason. `bun run mutate` prints survivors in the form of `mutant`:
 * the changed line of the source. An entry without a survivor fails the run.
 */
export const equivalents: readonly { file: string; mutant: string; why: string }[] = [
  {
    file: 'src/lib/rounding.ts',
    mutant: 'if (denominator <= 0n) return divideHalfEven(-numerator, -denominator)',
    why: 'a division by zero throws a RangeError in both cases',
  },
  {
    file: 'src/lib/decimal.ts',
    mutant: `const [, whole, decimals = '', exponent = ""] = /^(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d{1,3}))?$/.exec(text) ?? []`,
    why: 'Number("") is 0 too',
  },
  {
    file: 'src/lib/decimal.ts',
    mutant: `const [, whole, decimals = '', exponent = '0'] = /^(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d{1,3}))?$/.exec(text) ?? ["Stryker was here"]`,
    why: 'the first element is not used',
  },
  {
    file: 'src/lib/decimal.ts',
    mutant: 'const tenTo = (exponent: number): bigint => (exponent >= 0 ? 10n ** BigInt(exponent) : 1n)',
    why: '10 to the 0 is 1',
  },
  {
    file: 'src/modules/payments/fx/domain.ts',
    mutant: "if (false || !isCurrency(base)) return { problem: '`base` is not a currency' }",
    why: 'the check of the type is for the compiler: a value that is not a text is not a currency',
  },
  {
    file: 'src/modules/payments/fx/domain.ts',
    mutant: "if (false || !isDay(date)) return { problem: '`date` is not a day' }",
    why: 'the check of the type is for the compiler: a value that is not a text is not a day',
  },
  {
    file: 'src/modules/payments/fx/domain.ts',
    mutant:
      "const digits = (_: string, value: unknown, context?: { source?: string }) => (typeof value === 'number' ? context.source : value)",
    why: 'Bun always passes the context, which its type declares optional',
  },
  { file: 'src/modules/payments/fx/domain.ts', mutant: '} catch {}', why: 'a function that ends returns undefined' },
  { file: 'src/modules/selling/gift-card/domain.ts', mutant: 'return a.id <= b.id ? -1 : 1', why: 'ids of cards are unique' },
  {
    file: 'src/lib/day.ts',
    mutant: 'const ms = /\\d{4}-\\d{2}-\\d{2}$/.test(text) ? startOf(text) : Number.NaN',
    why: 'a text with more before the day differs from the day that it is read as',
  },
  {
    file: 'src/lib/day.ts',
    mutant: 'const ms = /^\\d{4}-\\d{2}-\\d{2}/.test(text) ? startOf(text) : Number.NaN',
    why: 'a text that continues after the day is not a valid time',
  },
  {
    file: 'src/lib/instant.ts',
    mutant: 'return day <= daysInMonth && hour <= 23 ? Date.parse(text.toLowerCase()) : Number.NaN',
    why: 'Bun also parses lower case; the standard guarantees upper case only',
  },
  {
    file: 'src/lib/networks.ts',
    mutant: `const host = false ? bare : (URL.parse(\`http://\${bare}/\`)?.hostname ?? bare)`,
    why: 'parsing a parsed host returns it unchanged: the condition only saves time',
  },
  { file: 'src/lib/networks.ts', mutant: "return host.replace(/\\[|\\]$/g, '')", why: 'a host has an opening bracket at its start only' },
  { file: 'src/lib/networks.ts', mutant: "return host.replace(/^\\[|\\]/g, '')", why: 'a host has a closing bracket at its end only' },
  {
    file: 'src/lib/seal.ts',
    mutant: `const sealed = Buffer.concat([iv.subarray(0, ivBytes), cipher.update(plain, ""), cipher.final(), cipher.getAuthTag()])`,
    why: 'UTF-8 is the default encoding',
  },
  {
    file: 'src/core/publication.ts',
    mutant: 'if (false || ms === undefined || (ms >= firstMs && ms < lastMs)) return',
    why: 'the check is for the compiler: null compares as 0, which is a time in 1970',
  },
  {
    file: 'src/modules/catalog/blog/domain.ts',
    mutant: `return changedBlog({ ...blank, words: "Stryker was here!" }, input, now)`,
    why: 'the search terms are computed anew in any case',
  },
  {
    file: 'src/modules/shop/shop/domain.ts',
    mutant: 'if (!url || !/^https?:/.test(url.protocol) || url.username || url.password) return undefined',
    why: 'a protocol ends with its colon',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'return changedProduct({ product: blank, variants: ["Stryker was here"] }, { ...input, variants: variantsInput }, given)',
    why: 'a new product has no variants that are looked up',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: `if (true && used.has(id)) throw invalid(\`images.\${at}.id\`, 'must not be repeated')`,
    why: 'undefined is never a used id',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'if (true) used.add(id)',
    why: 'undefined is never looked up among the used ids',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant:
      'return { id: id ?? newIds[at] ?? "Stryker was here!", url, alt: alt ?? null, position: at + 1, width: width ?? null, height: height ?? null }',
    why: 'there are enough ids for all new entries',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'const currency = input[0].price?.currency ?? product.currency',
    why: 'the check is for the compiler: the list is not empty',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'const old = false ? undefined : known.get(one.id)',
    why: 'undefined is never a known id',
  },
  { file: 'src/modules/catalog/products/domain.ts', mutant: 'if (true) known.delete(one.id)', why: 'undefined is never a known id' },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'return changedVariant(old, { ...one, price, imageId }, product.id, newIds[at] ?? "Stryker was here!", at + 1)',
    why: 'there are enough ids for all new entries',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: `if (!options[nth].values.includes(value)) throw invalid(\`variants.\${at}.optionValues.\${nth}\`, "must be one of the option's values")`,
    why: 'the check is for the compiler: there are as many values as options',
  },
  {
    file: 'src/modules/messaging/webhook/domain.ts',
    mutant: 'if (true && answered >= 200 && answered < 300)',
    why: 'the check is for the compiler: null compares as 0, which is not a success',
  },
  {
    file: 'src/modules/selling/cart/domain.ts',
    mutant: "reach === 'all' || customerId === null || (true && reach.customerId === customerId)",
    why: 'the check of the type is for the compiler: a text has no customer',
  },
  {
    file: 'src/modules/selling/cart/domain.ts',
    mutant: `reach === 'all' || customerId === null || (reach !== "" && reach.customerId === customerId)`,
    why: 'the check of the type is for the compiler: a text has no customer',
  },
  {
    file: 'src/modules/selling/cart/domain.ts',
    mutant: 'const total = sumOf([subtotal + discount, shipping, tax])',
    why: 'there are no discounts yet: it is 0',
  },
  {
    file: 'src/modules/selling/cart/pricing.ts',
    mutant: 'lines: lines.map((taxed, at) => ({ ...(items[at] as CartItem).line, unitPrice: purchase[at].unitPrice ?? 0, ...taxed })),',
    why: 'the check is for the compiler: each line has a purchase',
  },
  {
    file: 'src/lib/networks.ts',
    mutant: `const [spelt = "Stryker was here!", bits, ...rest] = text.split('/')`,
    why: 'the check is for the compiler: a split text always has a first part',
  },
  {
    file: 'src/lib/networks.ts',
    mutant: 'if (isIP(host) !== 0) return plainAddress(host).toString()',
    why: 'the check is for the compiler: each address has a plain form',
  },
]
