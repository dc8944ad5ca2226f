/** Sender names of shops: never that of a payment processor, a card network or this instance. */

/** Names that may not occur as a word or as separated letters. */
const reservedWholeWords = [
  ...['qpay', 'stripe', 'tappayments', 'checkoutcom', 'klarna', 'adyen', 'applepay', 'googlepay'],
  ...['visa', 'amex', 'maestro', 'jcb', 'unionpay', 'dinersclub', 'knet'],
]
/** Common words, which may not be the whole name. */
const reservedWholeNames = ['souk', 'tap', 'checkout', 'square', 'discover', 'mada']
/** Names that may not occur anywhere, not even within a word. */
const reservedSubstrings = ['paypal', 'btcpay', 'mastercard', 'americanexpress', 'stripepay', 'stripecom', 'worldpay', 'braintree']

/** Letters and signs that look like Latin ones; i, l and 1 look alike in capitals. */
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
/** Small capitals from a to z, which Unicode does not decompose. `q` and `x` have none. */
const smallCapitals = [...'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘqʀꜱᴛᴜᴠᴡxʏᴢ']
const letterOfSmallCapital = new Map(smallCapitals.map((letter, at) => [letter, String.fromCharCode(97 + at)]))

const skeletonOf = (text: string): string =>
  [
    ...text
      // Their compatibility forms are letters: ™ would become TM.
      .replace(/[™℠]/g, ' ')
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .toLowerCase(),
  ]
    .map((letter) => letterOfSmallCapital.get(letter) ?? letter)
    .map((letter) => lookalikes[letter] ?? letter)
    .join('')

/** A word also begins at a capital after a small letter. */
const wordsIn = (text: string): string[] =>
  skeletonOf(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

const plainSkeleton = (text: string): string => skeletonOf(text).replace(/[^\p{L}\p{N}]/gu, '')
const reservedWords = new Set(reservedWholeWords.map(plainSkeleton))
/** Words that operators add to their name: `Souk Support`. */
const officialWords = new Set(
  [
    'the',
    'team',
    'support',
    'help',
    'helpdesk',
    'service',
    'services',
    'security',
    'billing',
    'payments',
    'accounts',
    'account',
    'official',
    'admin',
    'staff',
    'noreply',
  ].map(plainSkeleton),
)

/**
 * Returns whether a name could pass for a payment processor, a card network or this instance. A processor's name may
 * not be a word of it; the instance's, often a common word, may not be all of it.
 * @param instance names of the instance, besides souk
 */
export function isReservedName(name: string, instance: readonly string[] = []): boolean {
  const forbiddenNames = new Set([...reservedWholeNames, ...instance].map(plainSkeleton).filter((one) => one !== ''))
  return [name, name.toLowerCase()].map(wordsIn).some((words) => {
    if (reservedSubstrings.some((one) => words.join('').includes(plainSkeleton(one)))) return true
    if (forbiddenNames.has(words.filter((word) => !officialWords.has(word)).join(''))) return true
    return words.some((_, from) => words.some((__, to) => to >= from && reservedWords.has(words.slice(from, to + 1).join(''))))
  })
}

const partMax = 100

/** Builds the sender name from name and handle, as `Noor's Tea (noors-tea)`. Reserved ones are left out. */
export function senderNameOf(name: string, handle: string, instance: readonly string[]): string {
  const [shownName, shownHandle] = [name.slice(0, partMax), handle].map((text) => (isReservedName(text, instance) ? '' : text))
  const parts = [shownName, shownHandle].filter((text, at, all) => text !== '' && all.indexOf(text) === at)
  const [first = 'Shop', second] = parts
  return second === undefined ? first : `${first} (${second})`
}
