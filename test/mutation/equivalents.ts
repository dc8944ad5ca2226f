/**
 * Mutants that behave like the source, each with the reason. `bun run mutate` prints survivors in the form of `mutant`:
 * the changed line of the source. An entry without a survivor fails the run.
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
    file: 'src/modules/payments/fx/domain.ts',
    mutant: "if (false || !isCurrency(base)) return { problem: '`base` is not a currency' }",
    why: 'the type is asked for the compiler: what is no text is no currency either',
  },
  {
    file: 'src/modules/payments/fx/domain.ts',
    mutant: "if (false || !isDay(date)) return { problem: '`date` is not a day' }",
    why: 'the type is asked for the compiler: what is no text is no day either',
  },
  {
    file: 'src/modules/payments/fx/domain.ts',
    mutant:
      "const digits = (_: string, value: unknown, context?: { source?: string }) => (typeof value === 'number' ? context.source : value)",
    why: 'Bun always gives the context; the compiler does not know of it',
  },
  { file: 'src/modules/payments/fx/domain.ts', mutant: '} catch {}', why: 'a function that ends returns undefined' },
  { file: 'src/modules/selling/gift-card/domain.ts', mutant: 'return a.id <= b.id ? -1 : 1', why: 'no two cards have the same id' },
  {
    file: 'src/lib/day.ts',
    mutant: 'const ms = /\\d{4}-\\d{2}-\\d{2}$/.test(text) ? startOf(text) : Number.NaN',
    why: 'a text with more before the day differs from the day that it is read as',
  },
  {
    file: 'src/lib/day.ts',
    mutant: 'const ms = /^\\d{4}-\\d{2}-\\d{2}/.test(text) ? startOf(text) : Number.NaN',
    why: 'a text with more behind the day is no moment once the time is added',
  },
  {
    file: 'src/lib/instant.ts',
    mutant: 'return day <= daysInMonth && hour <= 23 ? Date.parse(text.toLowerCase()) : Number.NaN',
    why: 'Bun reads small letters too; the standard promises capitals only',
  },
  {
    file: 'src/lib/networks.ts',
    mutant: `const host = false ? bare : (URL.parse(\`http://\${bare}/\`)?.hostname ?? bare)`,
    why: 'a host that has been read comes out as it is when it is read again: that is only saved',
  },
  { file: 'src/lib/networks.ts', mutant: "return host.replace(/\\[|\\]$/g, '')", why: 'a host has a bracket at its beginning only' },
  { file: 'src/lib/networks.ts', mutant: "return host.replace(/^\\[|\\]/g, '')", why: 'a host has a bracket at its end only' },
  {
    file: 'src/lib/seal.ts',
    mutant: `const sealed = Buffer.concat([iv.subarray(0, ivBytes), cipher.update(plain, ""), cipher.final(), cipher.getAuthTag()])`,
    why: 'a text is UTF-8 unless told otherwise',
  },
  {
    file: 'src/core/publication.ts',
    mutant: 'if (false || ms === undefined || (ms >= firstMs && ms < lastMs)) return',
    why: 'asked for the compiler: null counts as 0, which is a moment of 1970',
  },
  {
    file: 'src/modules/catalog/blog/domain.ts',
    mutant: `return changedBlog({ ...blank, words: "Stryker was here!" }, input, now)`,
    why: 'the words are worked out at once, whatever they were',
  },
  {
    file: 'src/modules/shop/shop/domain.ts',
    mutant: 'if (!url || !/^https?:/.test(url.protocol) || url.username || url.password) return undefined',
    why: 'a protocol ends with its colon',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'return changedProduct({ product: blank, variants: ["Stryker was here"] }, { ...input, variants: variantsInput }, given)',
    why: 'no variant of a new product is looked for by that',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: `if (true && used.has(id)) throw invalid(\`images.\${at}.id\`, 'must not be repeated')`,
    why: 'what has no id is not among the used',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'if (true) used.add(id)',
    why: 'what has no id is not looked for among the used',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant:
      'return { id: id ?? newIds[at] ?? "Stryker was here!", url, alt: alt ?? null, position: at + 1, width: width ?? null, height: height ?? null }',
    why: 'there are ids enough for all that is new',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'const currency = input[0].price?.currency ?? product.currency',
    why: 'asked for the compiler: the list is not empty',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'const old = false ? undefined : known.get(one.id)',
    why: 'nothing is known by no id',
  },
  { file: 'src/modules/catalog/products/domain.ts', mutant: 'if (true) known.delete(one.id)', why: 'nothing is known by no id' },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: 'return changedVariant(old, { ...one, price, imageId }, product.id, newIds[at] ?? "Stryker was here!", at + 1)',
    why: 'there are ids enough for all that is new',
  },
  {
    file: 'src/modules/catalog/products/domain.ts',
    mutant: `if (!options[nth].values.includes(value)) throw invalid(\`variants.\${at}.optionValues.\${nth}\`, "must be one of the option's values")`,
    why: 'asked for the compiler: there are as many values as options',
  },
  {
    file: 'src/modules/messaging/webhook/domain.ts',
    mutant: 'if (true && answered >= 200 && answered < 300)',
    why: 'asked for the compiler: null counts as 0, which is no success',
  },
  {
    file: 'src/modules/selling/cart/domain.ts',
    mutant: "reach === 'all' || customerId === null || (true && reach.customerId === customerId)",
    why: 'the type is asked for the compiler: a word has no customer',
  },
  {
    file: 'src/modules/selling/cart/domain.ts',
    mutant: `reach === 'all' || customerId === null || (reach !== "" && reach.customerId === customerId)`,
    why: 'the type is asked for the compiler: a word has no customer',
  },
  {
    file: 'src/modules/selling/cart/domain.ts',
    mutant: 'const total = sumOf([subtotal + discount, shipping, tax])',
    why: 'there are no discounts yet: it is 0',
  },
  {
    file: 'src/modules/selling/cart/pricing.ts',
    mutant: 'lines: lines.map((taxed, at) => ({ ...(items[at] as CartItem).line, unitPrice: purchase[at].unitPrice ?? 0, ...taxed })),',
    why: 'there is a purchase for each line: asked for the compiler',
  },
  {
    file: 'src/lib/networks.ts',
    mutant: `const [spelt = "Stryker was here!", bits, ...rest] = text.split('/')`,
    why: 'the first piece of a text is always there: asked for the compiler',
  },
  {
    file: 'src/lib/networks.ts',
    mutant: 'if (isIP(host) !== 0) return plainAddress(host).toString()',
    why: 'whatever is an address has a plain one: asked for the compiler',
  },
]
