/** The form values of a new shop and its body. */

export type NewShopTexts = { title: string; shopName: string; country: string; currency: string }

const handleMax = 63

/** Returns the handle of a title: small Latin letters, digits and hyphens; '' if too little of it is Latin. */
export function handleOf(title: string): string {
  const handle = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, handleMax)
    .replace(/^-|-$/g, '')
  return handle.length < 3 ? '' : handle
}

const euroCountries = 'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK'.split(' ')
const currencies: Readonly<Record<string, string>> = {
  ...Object.fromEntries(euroCountries.map((code) => [code, 'EUR'])),
  ...{ AE: 'AED', AU: 'AUD', BH: 'BHD', BR: 'BRL', CA: 'CAD', CH: 'CHF', CN: 'CNY', CZ: 'CZK', DK: 'DKK', EG: 'EGP', GB: 'GBP' },
  ...{ HK: 'HKD', HU: 'HUF', ID: 'IDR', IN: 'INR', JO: 'JOD', JP: 'JPY', KR: 'KRW', KW: 'KWD', KZ: 'KZT', MA: 'MAD', MN: 'MNT' },
  ...{ MX: 'MXN', MY: 'MYR', NO: 'NOK', NZ: 'NZD', OM: 'OMR', PH: 'PHP', PL: 'PLN', QA: 'QAR', RO: 'RON', SA: 'SAR', SE: 'SEK' },
  ...{ SG: 'SGD', TH: 'THB', TR: 'TRY', TW: 'TWD', UA: 'UAH', US: 'USD', VN: 'VND', ZA: 'ZAR' },
}

/** Returns the usual currency of a country; '' if it is not listed. */
export const currencyOf = (country: string): string => currencies[country] ?? ''

/** Builds the request body. */
export const newShopBody = ({ title, shopName, ...rest }: NewShopTexts, timeZone: string): NewShopTexts & { timeZone: string } => ({
  ...rest,
  timeZone,
  title: title.trim(),
  shopName: shopName.trim(),
})
