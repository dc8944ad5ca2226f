/** The currencies that each processor can say some amount of (processors.md, section 1). The clients' capabilities say which amounts. */
import { currencies, decimalsOf, isCurrency } from '../../lib/money.ts'
import { type ProcessorName, processorNames } from './domain.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const byStripe = words('BHD BIF CLP DJF GNF ISK JOD JPY KMF KRW KWD OMR PYG RWF TND UGX VND VUV XAF XOF XPF')
const byTap = words('AED BHD EGP EUR GBP JOD KWD OMR QAR SAR TND USD')
const byPaypal = words('AUD BRL CAD CNY CZK DKK EUR HKD HUF ILS JPY MYR MXN TWD NZD NOK PHP PLN GBP SGD SEK CHF THB USD')
const checkoutWhole = words('BIF DJF GNF ISK JPY KMF KRW PYG RWF UGX VUV VND XAF XOF XPF')
const notByCheckout = words('BOV CHE CHW CLP COU MXV SLE SSP USN UYI UYW VED VES XCG ZWG')
const checkoutDecimals = (code: string) => (checkoutWhole.has(code) ? 0 : decimalsOf(code) === 3 ? 3 : 2)
/** Units of account, which are quoted in no coin. */
const unquoted = words('BOV CHE CHW CLF COU MXV USN UYI UYW')

const saying: Readonly<Record<ProcessorName, (currency: string) => boolean>> = {
  stripe: (currency) => byStripe.has(currency) || decimalsOf(currency) === 2,
  tap: (currency) => byTap.has(currency),
  qpay: (currency) => currency === 'MNT',
  checkout: (currency) => !notByCheckout.has(currency) && decimalsOf(currency) === checkoutDecimals(currency),
  paypal: (currency) => byPaypal.has(currency),
  btcpay: (currency) => !unquoted.has(currency),
}

const byCurrency: ReadonlyMap<string, ReadonlySet<ProcessorName>> = new Map(
  currencies.filter(isCurrency).map((currency) => [currency, new Set(processorNames.filter((name) => saying[name](currency)))]),
)
const nobody: ReadonlySet<ProcessorName> = new Set()

/** The processors that can say amounts of a currency. */
export const processorsSaying = (currency: string): ReadonlySet<ProcessorName> => byCurrency.get(currency) ?? nobody
