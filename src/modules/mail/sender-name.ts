/** Whom a shop's mails say they are from: never a payment processor, a card network or this instance. */

/** Names that no shop's mails may carry, as a whole word or as letters that stand apart. */
const wholeWords = [
  'stripe',
  'tap',
  'tappayments',
  'checkout',
  'checkoutcom',
  'visa',
  'amex',
  'souk',
  'square',
  'klarna',
  'adyen',
  'applepay',
  'googlepay',
]
/** The same anywhere, also within another word. */
const anywhere = ['paypal', 'btcpay', 'qpay', 'mastercard', 'americanexpress', 'stripepay', 'stripecom', 'worldpay', 'braintree']

/** Letters of other scripts and signs that look like Latin ones; i, l and 1 look alike in capitals. */
const lookalikes: Readonly<Record<string, string>> = {
  ...{ а: 'a', α: 'a', '@': 'a', в: 'b', β: 'b', с: 'c', ϲ: 'c', ԁ: 'd', е: 'e', ε: 'e', '3': 'e', һ: 'h', н: 'h', η: 'n' },
  ...{
    і: 'l',
    ι: 'l',
    ı: 'l',
    i: 'l',
    '1': 'l',
    '|': 'l',
    '!': 'l',
    ӏ: 'l',
    ј: 'j',
    к: 'k',
    κ: 'k',
    м: 'm',
    п: 'n',
    о: 'o',
    ο: 'o',
    σ: 'o',
    '0': 'o',
  },
  ...{
    р: 'p',
    ρ: 'p',
    ԛ: 'q',
    г: 'r',
    ѕ: 's',
    '5': 's',
    $: 's',
    т: 't',
    τ: 't',
    υ: 'u',
    ν: 'v',
    ѵ: 'v',
    ԝ: 'w',
    х: 'x',
    χ: 'x',
    у: 'y',
    γ: 'y',
  },
}
const skeletonOf = (text: string): string =>
  [
    ...text
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .toLowerCase(),
  ]
    .map((letter) => lookalikes[letter] ?? letter)
    .join('')

/** A word begins where letters change from small to capital, too. */
const wordsIn = (text: string): string[] =>
  skeletonOf(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

/** Tells whether a name could pass for a payment processor, a card network or this instance. @param instance names of the instance itself */
export function isReservedName(name: string, instance: readonly string[] = []): boolean {
  const reserved = new Set(
    [...wholeWords, ...instance].map((one) => skeletonOf(one).replace(/[^\p{L}\p{N}]/gu, '')).filter((one) => one.length > 1),
  )
  const words = [wordsIn(name), wordsIn(name.toLowerCase())]
  if (anywhere.some((one) => words.some((of) => of.join('').includes(skeletonOf(one))))) return true
  return words.some((of) => of.some((_, from) => of.some((__, to) => to >= from && reserved.has(of.slice(from, to + 1).join('')))))
}

const partMax = 100

/**
 * Names the sender of a shop's mails: its sender name, or else its title, and its handle, as `Noor's Tea (noors-tea)`. A reserved name is left
 * out, and so is a reserved handle.
 */
export function senderNameOf(name: string, handle: string, instance: readonly string[]): string {
  const [shown, shownHandle] = [name.slice(0, partMax), handle].map((text) => (isReservedName(text, instance) ? '' : text))
  const parts = [shown, shownHandle].filter((text, at, all) => text !== '' && all.indexOf(text) === at)
  const [first = 'Shop', second] = parts
  return second === undefined ? first : `${first} (${second})`
}
